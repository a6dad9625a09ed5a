//! The window of a model: what is believed of it, what its program is asked for, and what a refusal teaches.
//!
//! ```text
//!  stated by the person ─┐
//!  the provider's word ──┼─► window ─► conversations are shortened by it ─► needed ─► asked (Ollama's num_ctx)
//!  memory, loaded ───────┤
//!  learned ◄─────────────┴───────── "… 9000 tokens exceed … 8192" ◄─ the provider refuses
//! ```
//!
//! Owns that there is one number: no request asks for a larger window than the one by which conversations are shortened. Must never
//! guess a number from words that it does not know.

/// The window of a model whose provider does not tell one.
pub const ASSUMED: u32 = 32_768;

/// The smallest window that a person may state.
pub const LEAST: u32 = 1024;

/// The smallest window that Ollama is asked for: it costs little, and the next few rounds fit in it.
const FIRST: u32 = 8192;

/// The memory for one token where the provider does not say how a model is built: that of 32 layers with 8 heads of 128.
const TOKEN_BYTES: u64 = 131_072;

/// The share of the memory that a model may take with its window, in percent.
const SHARE: u64 = 75;

/// The smallest window that memory is taken to allow: whether the model runs at all is its program's matter.
const LEAST_ROOM: u32 = 4096;

/// The facts from which a window follows. Numbers are tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WindowFacts {
    /// The number that the person has stated.
    pub stated: Option<u32>,
    /// The number that a refusal has taught.
    pub learned: Option<u32>,
    /// The provider's word.
    pub told: Option<u32>,
    /// The window with which its program has loaded it.
    pub loaded: Option<u32>,
    /// The window for which there is memory, if the request chooses the window.
    pub room: Option<u32>,
}

/// Where a window comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowSource {
    /// The person.
    Stated,
    /// A refusal.
    Learned,
    /// The provider.
    Told,
    /// The memory of this machine.
    Memory,
    /// The program that has loaded it.
    Loaded,
    /// Nobody.
    Assumed,
}

impl WindowSource {
    /// Its name for clients.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Stated => "stated",
            Self::Learned => "learned",
            Self::Told => "provider",
            Self::Memory => "memory",
            Self::Loaded => "loaded",
            Self::Assumed => "assumed",
        }
    }
}

/// The window of a model, and where the number comes from.
#[must_use]
pub fn window(facts: WindowFacts) -> (u32, WindowSource) {
    let WindowFacts { stated, learned, told, loaded, room } = facts;
    let believed = match (stated, told, loaded) {
        // A request that chooses its window cannot have more than the model was made for.
        (Some(stated), Some(told), _) if room.is_some() && told < stated => (told, WindowSource::Told),
        (Some(stated), ..) => (stated, WindowSource::Stated),
        (None, told, loaded) => {
            let own = told.map(|told| (told, WindowSource::Told));
            let own = own.or(loaded.map(|loaded| (loaded, WindowSource::Loaded)));
            let own = own.unwrap_or((ASSUMED, WindowSource::Assumed));
            // It runs with that already, so there is memory for it.
            let room = room.map(|room| room.max(loaded.unwrap_or_default()));
            room.filter(|room| *room < own.0).map_or(own, |room| (room, WindowSource::Memory))
        }
    };
    let is_better = |learned: &u32| *learned < believed.0 || believed.1 == WindowSource::Assumed;
    learned.filter(is_better).map_or(believed, |learned| (learned, WindowSource::Learned))
}

/// The memory of this machine in bytes, from `/proc/meminfo`.
#[must_use]
pub fn memory(meminfo: &str) -> Option<u64> {
    bytes_of(meminfo, "MemTotal:")
}

/// The memory in bytes that programs may still take, from `/proc/meminfo`.
#[must_use]
pub fn memory_available(meminfo: &str) -> Option<u64> {
    bytes_of(meminfo, "MemAvailable:")
}

fn bytes_of(meminfo: &str, name: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// The window for which there is memory. `memory` and `weights` are bytes, `token` the bytes of one token.
#[must_use]
pub fn room(memory: u64, weights: Option<u64>, token: Option<u64>) -> u32 {
    let free = (memory / 100 * SHARE).saturating_sub(weights.unwrap_or_default());
    let token = token.filter(|bytes| *bytes > 0).unwrap_or(TOKEN_BYTES);
    u32::try_from(free / token).unwrap_or(u32::MAX).max(LEAST_ROOM)
}

/// The window to ask a program for that loads the model anew for another one: it never becomes smaller than `before`, grows in large
/// steps, and takes what is `loaded` if that suffices.
#[must_use]
pub fn asked(needed: u64, before: Option<u32>, loaded: Option<u32>, window: u32) -> u32 {
    let needed = u32::try_from(needed).unwrap_or(u32::MAX);
    let step = needed.checked_next_power_of_two().unwrap_or(u32::MAX).max(FIRST);
    let before = before.unwrap_or_default();
    let as_loaded = loaded.filter(|loaded| *loaded >= needed.max(before));
    as_loaded.unwrap_or_else(|| step.max(before)).min(window)
}

/// A provider's word on a conversation that is too long, as far as its words are known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TooLong {
    /// The model's window.
    pub window: Option<u32>,
    /// The tokens that the provider has counted.
    pub counted: Option<u64>,
}

/// Words behind which the window stands.
const BEFORE: [&str; 12] = [
    "maximum context length is",
    "maximum context length of",
    "context length is only",
    "context length of",
    "available context size (",
    "maximum number of tokens allowed (",
    "maximum allowed number of input tokens",
    "context window of",
    "window of",
    "limit of",
    "limited to",
    "n_ctx:",
];

/// Words before which it stands.
const BEHIND: [&str; 2] = [" maximum context length", " tokens maximum"];

/// Reads a provider's words about a conversation that is too long.
#[must_use]
pub fn too_long(words: &str) -> TooLong {
    let words = words.to_ascii_lowercase();
    let numbers = numbers(&words);
    let at = |place: usize| numbers.iter().find(|number| number.at >= place && number.at <= place + 4);
    let before = || BEFORE.iter().find_map(|phrase| at(words.find(phrase)? + phrase.len()));
    let behind = || {
        let place = BEHIND.iter().find_map(|phrase| words.find(phrase))?;
        numbers.iter().find(|number| number.end == place)
    };
    let larger = || at(words.find('>')? + 1);
    let found = larger().or_else(before).or_else(behind);
    let window =
        found.and_then(|number| u32::try_from(number.value).ok()).filter(|window| *window >= LEAST / 4);
    let others = numbers.iter().map(|number| number.value);
    let counted = window.and_then(|window| others.filter(|value| *value > u64::from(window)).max());
    TooLong { window, counted }
}

struct Number {
    at: usize,
    end: usize,
    value: u64,
}

/// The numbers in a text. `200,000` is one.
fn numbers(text: &str) -> Vec<Number> {
    let bytes = text.as_bytes();
    let (mut all, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let is_part = |place: usize| {
            let digit = |place: usize| bytes.get(place).is_some_and(u8::is_ascii_digit);
            digit(place) || (matches!(bytes.get(place), Some(b',' | b'_')) && digit(place + 1))
        };
        let end = (at..bytes.len()).find(|place| !is_part(*place)).unwrap_or(bytes.len());
        let digits: String = text[at..end].chars().filter(char::is_ascii_digit).collect();
        all.extend(digits.parse().ok().map(|value| Number { at, end, value }));
        at = end;
    }
    all
}

/// The window that a refusal teaches: the provider's number, or half of what was sent when it failed. `sent` is an estimate.
#[must_use]
pub fn learned(said: TooLong, sent: u64) -> u32 {
    let half = || u32::try_from(sent / 2).unwrap_or(u32::MAX).max(LEAST);
    said.window.unwrap_or_else(half)
}

/// The window for the next try, by Harbor's own estimate of lengths, which `sent` is, too. It is smaller than what was sent.
#[must_use]
pub fn narrowed(window: u32, counted: Option<u64>, sent: u64) -> u32 {
    let window = u64::from(window);
    let scaled = match counted.filter(|counted| *counted > sent) {
        Some(counted) => window.saturating_mul(sent) / counted,
        None => window,
    };
    u32::try_from(scaled.min(sent.saturating_sub(sent / 8))).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_number_and_it_says_where_it_comes_from() {
        let none = WindowFacts::default();
        let rows = [
            (none, (ASSUMED, WindowSource::Assumed)),
            (WindowFacts { told: Some(9), ..none }, (9, WindowSource::Told)),
            (WindowFacts { told: Some(9), stated: Some(20), ..none }, (20, WindowSource::Stated)),
            (WindowFacts { told: Some(9), stated: Some(20), room: Some(8), ..none }, (9, WindowSource::Told)),
            (
                WindowFacts { told: Some(90), stated: Some(20), room: Some(8), ..none },
                (20, WindowSource::Stated),
            ),
            (WindowFacts { stated: Some(20), learned: Some(7), ..none }, (7, WindowSource::Learned)),
            (WindowFacts { told: Some(9), learned: Some(20), ..none }, (9, WindowSource::Told)),
            (WindowFacts { told: Some(90), room: Some(8), ..none }, (8, WindowSource::Memory)),
            (
                WindowFacts { told: Some(90), room: Some(8), loaded: Some(50), ..none },
                (50, WindowSource::Memory),
            ),
            (WindowFacts { loaded: Some(50), room: Some(80), ..none }, (50, WindowSource::Loaded)),
            (WindowFacts { learned: Some(90_000), ..none }, (90_000, WindowSource::Learned)),
        ];
        for (facts, wanted) in rows {
            assert_eq!(window(facts), wanted, "{facts:?}");
        }
    }

    #[test]
    fn memory_is_for_the_weights_and_then_for_the_window() {
        let gib = 1 << 30;
        assert_eq!(room(16 * gib, Some(4 * gib), Some(131_072)), 65_535);
        assert_eq!(room(16 * gib, None, None), 98_303);
        assert_eq!(room(gib, Some(4 * gib), None), LEAST_ROOM);
        assert_eq!(room(u64::MAX, None, Some(1)), u32::MAX);
        let said = "MemTotal:       16384 kB\nMemFree: 1 kB\nMemAvailable:   2048 kB\n";
        assert_eq!((memory(said), memory_available(said)), (Some(1 << 24), Some(2 << 20)));
        assert_eq!((memory("MemTotal: many kB"), memory("")), (None, None));
    }

    #[test]
    fn a_program_is_asked_for_large_steps_and_never_for_less_than_before() {
        assert_eq!(asked(10, None, None, 131_072), FIRST);
        assert_eq!(asked(9000, None, None, 131_072), 16_384);
        assert_eq!(asked(10, Some(16_384), None, 131_072), 16_384);
        assert_eq!(asked(9000, None, None, 10_000), 10_000);
        assert_eq!(asked(u64::MAX, None, None, 10_000), 10_000);
        // It is loaded with that: another number would load it anew.
        assert_eq!(asked(3000, None, Some(4096), 131_072), 4096);
        assert_eq!(asked(3000, Some(8192), Some(4096), 131_072), 8192);
        assert_eq!(asked(5000, None, Some(4096), 131_072), 8192);
    }

    #[test]
    fn the_words_of_providers_have_the_number() {
        let rows = [
            (
                "This model's maximum context length is 8192 tokens. However, your messages resulted in 10000 tokens.",
                8192,
                Some(10_000),
            ),
            ("prompt is too long: 210000 tokens > 200000 maximum", 200_000, Some(210_000)),
            ("input length and `max_tokens` exceed context limit: 199000 + 20000 > 200000", 200_000, None),
            ("message exceeds context window (5000 > 4096)", 4096, Some(5000)),
            (
                "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it",
                4096,
                Some(5000),
            ),
            ("the request exceeds the available context size (n_ctx: 4096)", 4096, None),
            (
                "The input token count (1,200,000) exceeds the maximum number of tokens allowed (1,048,576).",
                1_048_576,
                Some(1_200_000),
            ),
            (
                "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
                32_768,
                Some(40_000),
            ),
        ];
        for (words, window, counted) in rows {
            assert_eq!(too_long(words), TooLong { window: Some(window), counted }, "{words}");
        }
        for words in
            ["", "please reduce the length of the 2 messages", "limit of 3", "window of 99999999999999999999"]
        {
            assert_eq!(too_long(words), TooLong::default(), "{words}");
        }
    }

    #[test]
    fn a_refusal_teaches_a_window_and_the_next_try_is_shorter() {
        let said = TooLong { window: Some(4096), counted: Some(10_000) };
        assert_eq!(learned(said, 8000), 4096);
        assert_eq!(learned(TooLong::default(), 60_000), 30_000);
        assert_eq!(learned(TooLong::default(), 3), LEAST);
        // By the provider's count it is longer than by the estimate.
        assert_eq!(narrowed(4096, Some(10_000), 8000), 3276);
        assert_eq!(narrowed(4096, None, 8000), 4096);
        assert_eq!(narrowed(4096, None, 4000), 3500);
    }
}
