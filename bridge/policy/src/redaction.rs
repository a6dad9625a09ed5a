//! Removes secrets from texts that a server wrote, wherever they stand.
//!
//! ```text
//!  secrets ─► forms: as it is, its lines, as in JSON, in base64, percent-encoded ─► Redactor
//!  text ─► every place where a form stands, or its beginning where the text was cut ─► `[KEY]`
//! ```
//!
//! Owns which forms are known, and that none of them is left in a text. Must never show a secret, nor take long: a text is read
//! once or twice, however many secrets there are. Texts of fewer than six characters are not looked for: half of every log would
//! be hidden.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use zeroize::Zeroizing;

mod forms;

pub use forms::SHORTEST;
use forms::forms;

/// The mark that a runner puts behind a line that it has cut.
const CUT: &str = " … (cut)";

/// The text in place of one in which marks and secrets cannot be told apart.
const HIDDEN: &str = "[…]";

/// The number of bytes at a place that tell which forms may begin there.
const HEAD: usize = 4;

/// The bits of the first look at a place.
const BITS: usize = 4096;

/// Finds secrets. A redactor without secrets finds nothing, and costs nothing.
#[derive(Default)]
pub struct Redactor {
    names: Vec<String>,
    /// The forms of the secrets, each with the index of its name.
    forms: Vec<(Zeroizing<Vec<u8>>, usize)>,
    /// The forms by their first bytes.
    heads: BTreeMap<[u8; HEAD], Vec<usize>>,
    maybe: Vec<u64>,
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redactor").field("names", &self.names).finish_non_exhaustive()
    }
}

impl Redactor {
    /// A redactor that finds these texts, and replaces each by the name before it. A name may have several texts.
    pub fn new<'a>(secrets: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut redactor = Self { maybe: vec![0; BITS / 64], ..Self::default() };
        for (name, text) in secrets {
            let owner = redactor.owner(name);
            for form in forms(text) {
                redactor.add(form, owner);
            }
        }
        redactor
    }

    fn owner(&mut self, name: &str) -> usize {
        self.names.iter().position(|known| known == name).unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        })
    }

    fn add(&mut self, form: Zeroizing<Vec<u8>>, owner: usize) {
        let Some(head) = head_at(&form, 0) else { return };
        let bit = bit(head);
        self.maybe[bit / 64] |= 1 << (bit % 64);
        self.heads.entry(head).or_default().push(self.forms.len());
        self.forms.push((form, owner));
    }

    /// True if there are no secrets to be found.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.forms.is_empty()
    }

    /// The text with a mark for each secret in it.
    #[must_use]
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let found = self.found(text);
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        let (mut out, mut from) = (String::with_capacity(text.len()), 0);
        for (place, owner) in found {
            // Forms are text, and so is what a text was cut at: these are borders of characters.
            out.push_str(text.get(from..place.start).unwrap_or_default());
            out.push_str(&format!("[{}]", self.names[owner]));
            from = place.end;
        }
        out.push_str(text.get(from..).unwrap_or_default());
        // A secret may be made of marks, or of a mark and what stood beside it.
        Cow::Owned(if self.found(&out).is_empty() { out } else { HIDDEN.to_owned() })
    }

    /// The places of secrets, in order and apart from each other, and whose each is.
    fn found(&self, text: &str) -> Vec<(Range<usize>, usize)> {
        if self.forms.is_empty() {
            return Vec::new();
        }
        let mut found = self.whole(text.as_bytes());
        found.extend(ends(text).filter_map(|line| self.begun(text.as_bytes(), line)));
        found.sort_by_key(|(place, _)| place.start);
        let mut apart: Vec<(Range<usize>, usize)> = Vec::new();
        for (place, owner) in found {
            match apart.last_mut() {
                // What two of them have in common hides neither.
                Some((last, _)) if place.start < last.end => last.end = last.end.max(place.end),
                _ => apart.push((place, owner)),
            }
        }
        apart
    }

    /// Every place where a form stands.
    fn whole(&self, text: &[u8]) -> Vec<(Range<usize>, usize)> {
        let longest_at = |at: usize| {
            let standing = |(form, _): &&(Zeroizing<Vec<u8>>, usize)| text[at..].starts_with(form);
            let (form, owner) =
                self.that_may_begin(text, at).filter(standing).max_by_key(|(form, _)| form.len())?;
            Some((at..at + form.len(), *owner))
        };
        (0..text.len()).filter_map(longest_at).collect()
    }

    /// The beginning of a form at the end of a line that may have been cut there.
    fn begun(&self, text: &[u8], line: Range<usize>) -> Option<(Range<usize>, usize)> {
        let last = line.end.checked_sub(SHORTEST).filter(|last| *last >= line.start)?;
        (line.start..=last).find_map(|at| {
            let rest = &text[at..line.end];
            let (_, owner) = self.that_may_begin(text, at).find(|(form, _)| form.starts_with(rest))?;
            Some((at..line.end, *owner))
        })
    }

    /// The forms that begin as the text does at this place.
    fn that_may_begin(&self, text: &[u8], at: usize) -> impl Iterator<Item = &(Zeroizing<Vec<u8>>, usize)> {
        let head = head_at(text, at).filter(|head| {
            let bit = bit(*head);
            self.maybe[bit / 64] & (1 << (bit % 64)) != 0
        });
        let some = head.and_then(|head| self.heads.get(&head));
        some.into_iter().flatten().map(|form| &self.forms[*form])
    }
}

/// The lines of a text that may have been cut: the last one, and those that say so, without what says it.
fn ends(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    text.split_inclusive('\n').filter_map(move |line| {
        let start = at;
        at += line.len();
        let whole = line.strip_suffix('\n').unwrap_or(line);
        let cut = whole.strip_suffix(CUT);
        let is_last = at == text.len() && !line.ends_with('\n');
        // Half a character at the cut was replaced.
        let kept = cut.unwrap_or(whole).trim_end_matches(char::REPLACEMENT_CHARACTER);
        (is_last || cut.is_some()).then(|| start..start + kept.len())
    })
}

fn head_at(text: &[u8], at: usize) -> Option<[u8; HEAD]> {
    text.get(at..at + HEAD)?.try_into().ok()
}

fn bit(head: [u8; HEAD]) -> usize {
    // Any odd number with bits all over: the upper ones of the product depend on all four bytes.
    (u32::from_le_bytes(head).wrapping_mul(0x9e37_79b1) >> 20) as usize % BITS
}

#[cfg(test)]
mod tests;
