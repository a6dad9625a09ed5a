//! The tools that fit a task best: BM25 over names, titles, descriptions and parameters.
//!
//! ```text
//!  tools ─► ToolIndex (once) ─┐
//!  task ─► words and what they may mean ─► points for each tool ─► the best, one after the other:
//!                                                                  what they serve counts less for the next
//! ```
//!
//! Tools of servers that the task names come first. A word that some chosen tool already serves counts less afterwards, so that a
//! task with two parts gets tools for both. Owns this order. Must never know a tool or a task by name.

mod lexicon;

use std::collections::{BTreeMap, BTreeSet};

use lexicon::{LEXICON, Together, stem, stems, words};

/// Weights of the places where a word may stand.
const OF_NAME: f32 = 3.0;
const OF_TITLE: f32 = 1.0;
const OF_DESCRIPTION: f32 = 1.0;
const OF_PARAMETER: f32 = 0.4;
const OF_SERVER: f32 = 1.5;

/// BM25's two constants: how soon more of a word says no more, and how much the length of a text counts.
const SATURATION: f32 = 1.2;
const LENGTH: f32 = 0.5;

/// The weight of a word that the task's word may mean, and of a verb.
const MEANT: f32 = 0.7;
const DOING: f32 = 0.4;

/// The weight of words that mean something together where only some of them stand.
const APART: f32 = 0.4;

/// The share of the points that depends on how much of a tool's name the task has.
const OF_WHOLE_NAME: f32 = 0.7;

/// The points of a server that the task names, by its own name or by what it provides.
const NAMED: f32 = 2.0;
const PROVIDED: f32 = 1.2;

/// The weight that a word keeps after a tool for it was chosen.
const SERVED: f32 = 0.6;

/// A tool serves a word if it has this share of the most points for it.
const SERVES: f32 = 0.6;

/// The weight of a word that has already named a server.
const NAMING: f32 = 0.3;

/// The share of its points that a tool keeps if it deletes and the task does not speak of that.
const UNASKED: f32 = 0.7;

/// Words of tools that delete.
const DELETES: [&str; 3] = ["delete", "remove", "clear"];

/// The best by points from which tools are chosen, at least.
const CANDIDATES: usize = 60;

/// The words of a task that are looked at, at most.
const MOST_WORDS: usize = 256;

/// A tool as it is found.
#[derive(Debug, Clone, Copy)]
pub struct RankedTool<'a> {
    /// The server's name.
    pub server: &'a str,
    /// The tool's own name.
    pub name: &'a str,
    /// Its title, or nothing.
    pub title: &'a str,
    /// Its description.
    pub description: &'a str,
    /// The names of its parameters, with blanks between.
    pub parameters: &'a str,
}

/// The words of all tools, counted. Made once, and again when the tools change.
#[derive(Debug, Clone, Default)]
pub struct ToolIndex {
    terms: BTreeMap<String, usize>,
    /// By term: how rare it is, and the tools that have it with their points.
    rarity: Vec<f32>,
    points: Vec<Vec<(usize, f32)>>,
    /// By tool: the terms of its name, their rarity in all, and its server.
    names: Vec<BTreeSet<usize>>,
    whole_names: Vec<f32>,
    server_of: Vec<usize>,
    servers: Vec<BTreeSet<String>>,
}

/// A word of the task: the words that it may stand for, with their weights.
struct TaskWord {
    word: String,
    stands_for: Vec<(Vec<usize>, f32)>,
    weight: f32,
}

impl ToolIndex {
    /// Counts the words of these tools. The order of the tools is that of [`best`](Self::best)'s numbers.
    #[must_use]
    pub fn of<'a>(tools: impl IntoIterator<Item = RankedTool<'a>>) -> Self {
        let mut index = Self::default();
        let (mut counts, mut numbers) = (Vec::new(), BTreeMap::new());
        for tool in tools {
            let server = *numbers.entry(tool.server.to_owned()).or_insert_with(|| {
                index.servers.push(stems(tool.server).into_iter().collect());
                index.servers.len() - 1
            });
            index.server_of.push(server);
            counts.push(index.counted(&tool));
        }
        index.weigh(&counts);
        index
    }

    /// How many tools there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// True if there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    fn counted(&mut self, tool: &RankedTool<'_>) -> BTreeMap<usize, f32> {
        let mut count: BTreeMap<usize, f32> = BTreeMap::new();
        let mut add =
            |terms: &mut BTreeMap<String, usize>, words: BTreeSet<String>, weight: f32| -> BTreeSet<usize> {
                let mut added = BTreeSet::new();
                for word in words {
                    let next = terms.len();
                    let term = *terms.entry(word).or_insert(next);
                    *count.entry(term).or_default() += weight;
                    added.insert(term);
                }
                added
            };
        let set = |text: &str| stems(text).into_iter().collect::<BTreeSet<_>>();
        let name = set(tool.name);
        let title = &set(tool.title) - &name;
        let name = add(&mut self.terms, name, OF_NAME);
        add(&mut self.terms, title, OF_TITLE);
        add(&mut self.terms, set(tool.parameters), OF_PARAMETER);
        add(&mut self.terms, set(tool.server), OF_SERVER);
        for word in stems(tool.description) {
            add(&mut self.terms, BTreeSet::from([word]), OF_DESCRIPTION);
        }
        self.names.push(name);
        count
    }

    fn weigh(&mut self, counts: &[BTreeMap<usize, f32>]) {
        let mut having = vec![0_usize; self.terms.len()];
        counts.iter().flat_map(BTreeMap::keys).for_each(|term| having[*term] += 1);
        let all = as_f32(counts.len());
        let rarity = |having: &usize| (1.0 + (all - as_f32(*having) + 0.5) / (as_f32(*having) + 0.5)).ln();
        self.rarity = having.iter().map(rarity).collect();
        let lengths: Vec<f32> = counts.iter().map(|count| count.values().sum()).collect();
        let mean = (lengths.iter().sum::<f32>() / all.max(1.0)).max(1.0);
        self.points = vec![Vec::new(); self.terms.len()];
        for (tool, (count, length)) in counts.iter().zip(&lengths).enumerate() {
            for (term, times) in count {
                let damped = SATURATION * (1.0 - LENGTH + LENGTH * length / mean);
                let points = self.rarity[*term] * times * (SATURATION + 1.0) / (times + damped);
                self.points[*term].push((tool, points));
            }
        }
        let whole = |name: &BTreeSet<usize>| name.iter().map(|term| self.rarity[*term]).sum();
        self.whole_names = self.names.iter().map(whole).collect();
    }

    /// The numbers of the best tools for a task, the best first; at most so many, and fewer if nothing speaks for more.
    #[must_use]
    pub fn best(&self, task: &str, most: usize) -> Vec<usize> {
        self.best_for(&self.task_words(task, false), most)
    }

    /// As [`best`](Self::best), for words with which somebody looks for tools. Numbers and words that say nothing in a task count.
    #[must_use]
    pub fn search(&self, query: &str, most: usize) -> Vec<usize> {
        self.best_for(&self.task_words(query, true), most)
    }

    fn best_for(&self, words: &[TaskWord], most: usize) -> Vec<usize> {
        let matrix: Vec<Vec<f32>> = words.iter().map(|word| self.points_of(word)).collect();
        let share = self.shares_of_names(words);
        let named = self.points_of_servers(words);
        let total = |tool: usize| {
            let points: f32 = matrix.iter().map(|row| row[tool]).sum();
            points * share[tool] + named[self.server_of[tool]]
        };
        let mut order: Vec<(usize, f32)> = (0..self.len()).map(|tool| (tool, total(tool))).collect();
        order.retain(|(_, points)| *points > 0.0);
        order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        order.truncate(CANDIDATES.max(most));
        let left = order.into_iter().map(|(tool, _)| tool).collect();
        self.chosen(left, &matrix, &share, &named, most)
    }

    /// Chooses one after the other. A word that is served, and a server that was chosen, count less from then on.
    fn chosen(
        &self,
        mut left: Vec<usize>,
        matrix: &[Vec<f32>],
        share: &[f32],
        named: &[f32],
        most: usize,
    ) -> Vec<usize> {
        let highest: Vec<f32> = matrix.iter().map(|row| row.iter().copied().fold(0.0, f32::max)).collect();
        let mut weights = vec![1.0_f32; matrix.len()];
        let mut of_server = vec![0_usize; self.servers.len()];
        let mut chosen = Vec::new();
        while chosen.len() < most && !left.is_empty() {
            let points = |tool: usize| {
                let points: f32 = matrix.iter().zip(&weights).map(|(row, weight)| row[tool] * weight).sum();
                let server = self.server_of[tool];
                points * share[tool] + named[server] * 0.5_f32.powf(as_f32(of_server[server]) / 4.0)
            };
            let mut best = (0, f32::MIN);
            for (at, tool) in left.iter().enumerate() {
                let points = points(*tool);
                if points > best.1 || (points >= best.1 && *tool < left[best.0]) {
                    best = (at, points);
                }
            }
            let tool = left.remove(best.0);
            of_server[self.server_of[tool]] += 1;
            for ((row, weight), highest) in matrix.iter().zip(&mut weights).zip(&highest) {
                if *highest > 0.0 && row[tool] > SERVES * highest {
                    *weight *= SERVED;
                }
            }
            chosen.push(tool);
        }
        chosen
    }

    /// The points of each tool for a word: those of the best of the words that it may stand for.
    fn points_of(&self, word: &TaskWord) -> Vec<f32> {
        let mut row = vec![0.0_f32; self.len()];
        for (terms, weight) in &word.stands_for {
            let mut sums: BTreeMap<usize, (f32, usize)> = BTreeMap::new();
            for (tool, points) in terms.iter().flat_map(|term| &self.points[*term]) {
                let sum = sums.entry(*tool).or_default();
                *sum = (sum.0 + points, sum.1 + 1);
            }
            let count = terms.len();
            for (tool, (sum, found)) in sums {
                let apart = if found == count { 1.0 } else { APART };
                row[tool] = row[tool].max(sum / as_f32(count) * apart * weight * word.weight);
            }
        }
        row
    }

    /// By tool: more, the more of its name the task has.
    fn shares_of_names(&self, words: &[TaskWord]) -> Vec<f32> {
        let mut found: BTreeMap<usize, f32> = BTreeMap::new();
        for (terms, weight) in words.iter().flat_map(|word| &word.stands_for) {
            for term in terms {
                let known = found.entry(*term).or_default();
                *known = known.max(weight.sqrt());
            }
        }
        let deleting: Vec<usize> =
            DELETES.iter().filter_map(|word| self.terms.get(&stem(word)).copied()).collect();
        let is_asked = deleting.iter().any(|term| found.contains_key(term));
        let share = |(name, whole): (&BTreeSet<usize>, &f32)| {
            let has: f32 = name.iter().filter_map(|term| Some(found.get(term)? * self.rarity[*term])).sum();
            let share = if *whole > 0.0 { has / whole } else { 0.0 };
            let is_unasked = !is_asked && deleting.iter().any(|term| name.contains(term));
            (1.0 - OF_WHOLE_NAME + OF_WHOLE_NAME * share) * if is_unasked { UNASKED } else { 1.0 }
        };
        self.names.iter().zip(&self.whole_names).map(share).collect()
    }

    /// By server: its points if the task names it.
    fn points_of_servers(&self, words: &[TaskWord]) -> Vec<f32> {
        let count = as_f32(self.servers.len());
        let with = |word: &str| as_f32(self.servers.iter().filter(|server| server.contains(word)).count());
        let points = |server: &BTreeSet<String>| {
            let of = |word: &TaskWord| match self.names_server(&word.word, server, words) {
                Some(true) => NAMED * (1.0 + count / with(&word.word).max(1.0)).ln(),
                Some(false) => PROVIDED * (1.0 + count).ln(),
                None => 0.0,
            };
            words.iter().map(of).fold(0.0, f32::max)
        };
        self.servers.iter().map(points).collect()
    }

    /// True if a word is of the server's name, false if the server provides what the word names.
    fn names_server(&self, word: &str, server: &BTreeSet<String>, words: &[TaskWord]) -> Option<bool> {
        let is_whole = || server.iter().all(|part| words.iter().any(|word| word.word == *part));
        if server.contains(word) && (!LEXICON.is_common(word) || is_whole()) {
            return Some(true);
        }
        LEXICON.is_of_server(word, server).then_some(false)
    }

    /// The words of a task that may say something; or all of its words.
    fn task_words(&self, task: &str, all: bool) -> Vec<TaskWord> {
        let text = without_addresses(task);
        let mut raw = words(&text);
        // `GitHub` is one word of a server's name, and two words otherwise.
        let whole = text.split(|c: char| !c.is_alphanumeric()).filter(|word| words(word).len() > 1);
        raw.extend(whole.map(str::to_lowercase).filter(|word| self.terms.contains_key(&stem(word))));
        let mut seen = BTreeSet::new();
        let mut found: Vec<String> = Vec::new();
        let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
        for word in raw.iter().map(|word| stem(word)) {
            let is_told = all || !(is_number(&word) || LEXICON.is_silent(&word));
            if is_told && seen.insert(word.clone()) {
                found.push(word);
            }
        }
        found.extend(raw.windows(2).map(|two| two.join("-")).filter(|two| LEXICON.knows(two)));
        found.extend(hyphened(task).filter(|word| LEXICON.knows(word) || self.terms.contains_key(word)));
        found.truncate(MOST_WORDS);
        let mut words: Vec<TaskWord> = found.into_iter().map(|word| self.task_word(word)).collect();
        let meant = |meanings: &BTreeSet<Together>| self.meant(String::new(), meanings.iter());
        words.extend(LEXICON.unspaced(task).map(meant));
        words.extend(self.shapes(task));
        let names: Vec<bool> = words.iter().map(|word| self.has_named(word)).collect();
        for (word, names) in words.iter_mut().zip(names) {
            word.weight *= if names { NAMING } else { 1.0 };
        }
        words
    }

    /// True if the table says which servers the word stands for, and one of them is there.
    fn has_named(&self, word: &TaskWord) -> bool {
        self.servers.iter().any(|server| LEXICON.is_of_server(&word.word, server))
    }

    fn task_word(&self, word: String) -> TaskWord {
        let is_known = LEXICON.knows(&word) || self.terms.contains_key(&word);
        let word = match LEXICON.part_of(&word).filter(|_| !is_known) {
            Some(part) => part.to_owned(),
            None => word,
        };
        let own = self.terms.get(&word).map(|term| (vec![*term], 1.0));
        let weight = if LEXICON.is_doing(&word) { DOING } else { 1.0 };
        let mut word = self.meant(word.clone(), LEXICON.meanings(&word));
        word.stands_for.extend(own);
        TaskWord { weight, ..word }
    }

    fn meant<'a>(&self, word: String, meanings: impl Iterator<Item = &'a Together>) -> TaskWord {
        let terms = |together: &Together| -> Vec<usize> {
            together.iter().filter_map(|word| self.terms.get(word).copied()).collect()
        };
        let stands_for = meanings.map(|together| (terms(together), together.len()));
        let whole = stands_for.filter(|(terms, count)| terms.len() == *count && *count > 0);
        TaskWord { word, stands_for: whole.map(|(terms, _)| (terms, MEANT)).collect(), weight: 1.0 }
    }

    /// Addresses and names of files, which say what a task is about by their shape.
    fn shapes(&self, task: &str) -> Vec<TaskWord> {
        let mut found = Vec::new();
        let mut add = |is_there: bool, meant: &[(&str, f32)]| {
            let of = |(word, weight): &(&str, f32)| Some((vec![*self.terms.get(&stem(word))?], *weight));
            if is_there {
                let stands_for = meant.iter().filter_map(of).collect();
                found.push(TaskWord { word: String::new(), stands_for, weight: 1.0 });
            }
        };
        let has_address = task.split_whitespace().any(is_address);
        add(has_address, &[("fetch", 1.4), ("url", 1.0), ("page", 0.7), ("web", 0.7)]);
        add(task.split_whitespace().any(is_file), &[("file", 1.1), ("path", 0.35)]);
        found
    }
}

fn is_address(word: &str) -> bool {
    word.contains("http://") || word.contains("https://")
}

/// True for `notes.md`, not for an address or the end of a sentence.
fn is_file(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '/' && c != '.');
    let Some((name, end)) = word.trim_end_matches('.').rsplit_once('.') else { return false };
    let is_end = (1..=5).contains(&end.len()) && end.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_host = ["com", "org", "net", "io", "de", "fr", "es"].contains(&end);
    is_end && !is_host && !is_address(word) && !word.contains('@') && name.ends_with(char::is_alphanumeric)
}

fn without_addresses(task: &str) -> String {
    let words = task.split_whitespace().filter(|word| !is_address(word));
    words.collect::<Vec<_>>().join(" ").replace(['\'', '’'], " ")
}

/// Words with a hyphen in them, as one word.
fn hyphened(task: &str) -> impl Iterator<Item = String> {
    let halves = |word: &str| {
        let (head, tail) = word.trim_matches(|c: char| !c.is_alphanumeric()).split_once('-')?;
        let is_word = |text: &str| !text.is_empty() && text.chars().all(char::is_alphanumeric);
        (is_word(head) && is_word(tail)).then(|| stem(&format!("{head}{tail}")))
    };
    task.split_whitespace().filter_map(halves)
}

#[allow(clippy::cast_precision_loss, reason = "nobody has 2^23 tools")]
fn as_f32(count: usize) -> f32 {
    count as f32
}
