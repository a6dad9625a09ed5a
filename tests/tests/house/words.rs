//! Comments are plain English: two numbers that may only fall.
//!
//! Reads the shipped sources. A line of documentation that begins with a word of [`ODD`] makes its reader look for the subject;
//! a long sentence has to be read twice.

use super::tree::crates;

/// First words of lines that have no subject.
const ODD: [&str; 7] = ["What", "Whether", "Of", "Who", "So", "Those", "The same"];

/// So many lines may begin with one of them. Lower it with each change that makes them fewer.
const MOST_ODD: usize = 87;

/// A sentence with more words is long.
const WORDS: usize = 35;

/// So many sentences may be long. Lower it likewise.
const MOST_LONG: usize = 1;

/// The text of a line of documentation.
fn documentation(line: &str) -> Option<&str> {
    let line = line.trim_start();
    line.strip_prefix("///").or_else(|| line.strip_prefix("//!")).map(str::trim)
}

fn is_odd(text: &str) -> bool {
    let ends = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric());
    ODD.iter().any(|word| text.strip_prefix(word).is_some_and(ends))
}

/// The sentences of a comment that are too long; pictures and tables have none.
fn long(text: &str) -> Vec<String> {
    let (mut blocks, mut block, mut is_picture) = (Vec::new(), String::new(), false);
    for line in text.lines().map(documentation) {
        match line {
            Some(line) if line.starts_with("```") => is_picture = !is_picture,
            Some(_) if is_picture => {}
            Some(line) if !line.is_empty() && !line.starts_with(['|', '-', '#']) => {
                block.push_str(line);
                block.push(' ');
            }
            _ => blocks.push(std::mem::take(&mut block)),
        }
    }
    blocks.push(block);
    let ends = |c: char| ".:;?!".contains(c);
    let sentences = blocks.iter().flat_map(|block| block.split_inclusive(ends).map(str::trim));
    sentences.filter(|sentence| sentence.split_whitespace().count() > WORDS).map(str::to_owned).collect()
}

#[test]
fn comments_have_subjects_and_end() {
    let (mut odd, mut too_long) = (0, Vec::new());
    for (crate_, modules) in crates() {
        for module in &modules {
            odd += module.text.lines().filter_map(documentation).filter(|line| is_odd(line)).count();
            let place = format!("{crate_}/{}", module.path.join("/"));
            too_long.extend(long(&module.text).into_iter().map(|sentence| format!("{place}: {sentence}")));
        }
    }
    assert!(odd <= MOST_ODD, "{odd} lines of documentation begin with one of {ODD:?}; {MOST_ODD} may");
    assert!(
        too_long.len() <= MOST_LONG,
        "{} long sentences; {MOST_LONG} may be:\n{}",
        too_long.len(),
        too_long.join("\n")
    );
}

#[test]
fn a_line_is_odd_by_its_first_word_and_a_sentence_is_long_by_its_words() {
    let odd =
        ["What is kept.", "Whether it is.", "The same, kept.", "Office hours.", "The samearity.", "A call."];
    assert_eq!(odd.map(is_odd), [true, true, true, false, false, false]);
    let words = "word ".repeat(36);
    assert_eq!(long(&format!("/// {words}.\n/// Short.\n/// ```text\n/// {words}\n/// ```")).len(), 1);
}
