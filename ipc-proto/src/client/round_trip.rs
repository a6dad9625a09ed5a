//! What is written is read back: for each message of the tables, with values of all kinds in its fields.

use std::collections::BTreeMap;
use std::fmt::Debug;

use super::docs::{objects, replies, settings};
use super::{
    Attempts, CredentialType, Instance, Level, MessageDoc, NetworkKind, PUSHES, REQUESTS, RestartWhen,
    Sampling,
};
use crate::field::{JsonObject, Message, Word, put_object, read_object};
use crate::json::{Json, Pieces};
use crate::secret::{Secret, SecretMap};
use crate::server_id::ServerId;
use crate::source_id::SourceId;

/// How often each message is tried.
const ROUNDS: u64 = 60;

/// Numbers that look like chance and are the same in each run.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.roll(of.len())]
    }
}

/// A type of which there are values to try.
pub(crate) trait Sample {
    fn sample(dice: &mut Dice) -> Self;
}

/// Writes a message and reads it back, alone and beside a field that nobody knows.
pub(crate) fn round_trip<T: Message + Sample + PartialEq + Debug>(dice: &mut Dice) {
    let message = T::sample(dice);
    let mut out = Vec::new();
    put_object(&mut out, &message);
    assert!(
        message.fields_room() + 2 >= out.len(),
        "{}: {} bytes are more than announced",
        T::TAG,
        out.len()
    );
    let text = String::from_utf8(out).unwrap();
    let comma = if text == "{}" { "" } else { "," };
    let more = format!("{}{comma}\"unheard_of\":[{{}}]}}", text.strip_suffix('}').unwrap());
    for text in [text, more] {
        assert_eq!(read_object::<T>(&text).as_ref(), Ok(&message), "{text}");
    }
}

const TEXTS: &[&str] =
    &["", "a", "null", "two words", "\"\\\n\u{1}\u{7f}", "ä€😀", "{\"a\":[1,2]}", "\u{1f}\u{1f}\u{1f}\u{1f}"];

const JSON: &[&str] = &[
    "null",
    "1",
    "12345678901234567890.10",
    "\"\\ud800\"",
    "[]",
    "[1, 2]",
    "{\"z\":1,\"a\":{ \"b\":null}}",
    "false",
];

const OBJECTS: &[&str] = &["{}", "{\"z\":1,\"a\":12345678901234567890.10}", "{ \"a\" : [null] }"];

macro_rules! samples {
    ($($type:ty: $dice:ident $sample:expr;)*) => {$(
        impl Sample for $type {
            fn sample($dice: &mut Dice) -> Self {
                $sample
            }
        }
    )*};
}

samples! {
    bool: dice dice.roll(2) == 0;
    u32: dice dice.one(&[0, 1, 7, u32::MAX]);
    u64: dice dice.one(&[0, 1, 9_007_199_254_740_993, u64::MAX]);
    i32: dice dice.one(&[0, -1, 255, i32::MIN, i32::MAX]);
    i64: dice dice.one(&[0, -1, i64::MIN, i64::MAX]);
    String: dice dice.one(TEXTS).to_owned();
    Word: dice dice.one(TEXTS).into();
    Secret: dice Self::new(String::sample(dice));
    SecretMap: dice Self(BTreeMap::sample(dice));
    ServerId: dice Self::parse(dice.one(&["a", "time", "my.server-1_x"])).unwrap();
    SourceId: dice Self::parse(dice.one(&["time", "browser", "js:notes", "page:example.com:8080~2"])).unwrap();
    Json: dice Self::from_valid(dice.one(JSON).to_owned());
    JsonObject: dice Self(Json::from_valid(dice.one(OBJECTS).to_owned()));
    Level: dice dice.one(Self::ALL);
    NetworkKind: dice dice.one(Self::ALL);
    CredentialType: dice dice.one(&Self::ALL);
    RestartWhen: dice dice.one(&Self::ALL);
    Instance: dice dice.one(&Self::ALL);
    Sampling: dice dice.one(&Self::ALL);
    Attempts: dice dice.one(&[Self::Most(0), Self::Most(1_000_000), Self::Unlimited]);
}

impl Sample for Pieces {
    fn sample(dice: &mut Dice) -> Self {
        let mut pieces = Self::default();
        for _ in 0..dice.roll(3) {
            let text = dice.one(OBJECTS);
            pieces.push(&text.into(), 0..text.len());
        }
        pieces
    }
}

impl<T: Sample> Sample for Option<T> {
    fn sample(dice: &mut Dice) -> Self {
        (dice.roll(3) > 0).then(|| T::sample(dice))
    }
}

impl<T: Sample> Sample for Vec<T> {
    fn sample(dice: &mut Dice) -> Self {
        (0..dice.roll(4)).map(|_| T::sample(dice)).collect()
    }
}

impl<T: Sample> Sample for BTreeMap<String, T> {
    fn sample(dice: &mut Dice) -> Self {
        (0..dice.roll(4)).map(|_| (String::sample(dice), T::sample(dice))).collect()
    }
}

fn all() -> impl Iterator<Item = &'static MessageDoc> {
    REQUESTS.iter().chain(replies()).chain(PUSHES).chain(settings()).chain(objects())
}

#[test]
fn what_is_written_is_read_back_equal() {
    for message in all() {
        for seed in 0..ROUNDS {
            (message.round_trip)(&mut Dice::new(seed));
        }
    }
}
