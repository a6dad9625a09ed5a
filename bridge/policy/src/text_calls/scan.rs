//! The way through an answer, from mark to mark.
//!
//! ```text
//!  text ─► text for the person ─► rest
//!    ├──► thought ─► nothing
//!    ├──► call ─► meant, offered, not heard before? ─► calls
//!    │      └─ only shown ─► rest, and why
//!    └──► the text ends within a call ─► nothing, and no calls at all
//! ```
//!
//! Owns the order of the checks. Nothing behind what is not decided yet gets to the person. Each byte is looked at a bounded
//! number of times: what turns out to be no call is read again as text, but only so often.

use super::answer::{ReadAnswer, Reading};
use super::looking::Looking;
use super::marks::Form;
use super::state::{CallForm, ScanStep};

pub(super) use super::state::AnswerScan;

/// How often something that looked like a call may turn out to be none. The rest of the answer is text then.
const TRIES: u32 = 256;

/// Reads on, as far as it can be decided. After the last piece of the text `is_whole` is true, and all is decided.
pub(super) fn advance(scan: &mut AnswerScan, text: &str, reading: Reading<'_>, is_whole: bool) {
    while scan.at < text.len() && !scan.is_over {
        let step = step(&mut Looking { scan, text, reading, is_whole, inner });
        match step {
            ScanStep::Wait if is_whole => scan.perform(text, reading, ScanStep::Show(text.len())),
            ScanStep::Wait => break,
            step => scan.perform(text, reading, step),
        }
    }
    if is_whole {
        scan.answer.rest = scan.out.trim().to_owned();
        if scan.answer.is_cut {
            scan.answer.calls.clear();
        }
    }
}

/// Reads a part of an answer by itself.
fn inner(text: &str, reading: Reading<'_>, depth: usize) -> ReadAnswer {
    let mut scan = AnswerScan { depth, ..AnswerScan::default() };
    advance(&mut scan, text, reading, true);
    scan.answer
}

fn step(look: &mut Looking<'_>) -> ScanStep {
    let at = look.scan.at;
    if let Some(mark) = &look.scan.code {
        return look.within_code(mark.clone());
    }
    if look.scan.tries > TRIES {
        return ScanStep::Show(look.text.len());
    }
    if look.scan.line != Some(at) && look.scan.is_line_begin() {
        let step = look.line(look.first(at));
        if !matches!(step, Some(ScanStep::Wait)) {
            look.scan.line = Some(at);
        }
        if let Some(step) = step {
            return step;
        }
    }
    let rest = &look.text[at..];
    let Some(next) = rest.find(['<', '[', '`', '{', '>', '\n']) else { return tail(look) };
    let word = look.text[..at + next].strip_suffix("functools").filter(|before| before.len() >= at);
    let begins_call = rest[next..].starts_with('[')
        && word.is_some_and(|before| !before.ends_with(|c: char| c.is_alphanumeric()));
    let next = if begins_call { next - "functools".len() } else { next };
    if next > 0 {
        return ScanStep::Show(at + next);
    }
    match rest.as_bytes()[0] {
        b'<' => look.angle(),
        b'[' => look.bracket(),
        b'f' => look.marked(CallForm::Marked(Form::Bracket)),
        b'`' => look.ticks(),
        b'{' => look.brace(),
        b'>' => look.recipient(),
        _ => ScanStep::Show(at + 1),
    }
}

/// The end of what has come, without the beginning of a word that may mark a call.
fn tail(look: &Looking<'_>) -> ScanStep {
    let rest = &look.text[look.scan.at..];
    let word = rest
        .rfind(|c: char| !c.is_alphanumeric())
        .map_or(0, |at| at + rest[at..].chars().next().map_or(1, char::len_utf8));
    let may_mark = !rest[word..].is_empty() && "functools".starts_with(&rest[word..]);
    match (look.is_whole || !may_mark, word) {
        (true, _) => ScanStep::Show(look.text.len()),
        (false, 0) => ScanStep::Wait,
        (false, word) => ScanStep::Show(look.scan.at + word),
    }
}
