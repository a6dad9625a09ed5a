//! Characters that a person does not see, or that change how the text around them is shown.
//!
//! Owns which those are. Must never judge words: what a text asks for is read by people.
//!
//! A zero-width joiner is part of many emoji, so one directly behind an emoji, a skin tone or a variation selector
//! 16 is ordinary. The rule looks at the one character before it and at nothing else. Variation selectors 1 to 16
//! and private use are not flagged.

/// The zero-width joiner.
const JOINER: char = '\u{200d}';

/// Whether `text` has a hidden character.
#[must_use]
pub fn has_hidden(text: &str) -> bool {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t' | b'\r')) {
        return false;
    }
    let mut before = ' ';
    text.chars().any(|character| is_hidden(std::mem::replace(&mut before, character), character))
}

/// Whether `character` is hidden where it stands behind `before`.
#[must_use]
pub fn is_hidden(before: char, character: char) -> bool {
    match character {
        '\n' | '\t' | '\r' => false,
        JOINER if can_be_joined(before) => false,
        // C0, DEL and C1.
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' => true,
        character if turns_text(character) => true,
        // Ends of lines and paragraphs that few programs show.
        '\u{2028}' | '\u{2029}' => true,
        // Without width, or shown as nothing.
        '\u{ad}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}'..='\u{200d}' => true,
        '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' => true,
        // Interlinear annotations.
        '\u{fff9}'..='\u{fffb}' => true,
        // Tags, and the variation selectors beyond the sixteen that emoji and ideographs have.
        '\u{e0000}'..='\u{e007f}' | '\u{e0100}'..='\u{e01ef}' => true,
        _ => false,
    }
}

/// Whether a character changes the direction of the text around it: what is read would not be what is there.
#[must_use]
pub fn turns_text(character: char) -> bool {
    matches!(
        character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

/// Emoji, skin tones among them, and the selector that shows a character as emoji.
fn can_be_joined(character: char) -> bool {
    matches!(
        character,
        '\u{fe0f}' | '\u{1f000}'..='\u{1faff}' | '\u{2600}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_character_is_hidden_and_its_neighbours_are_not() {
        let ranges = [
            (0x00, 0x08),
            (0x0b, 0x0c),
            (0x0e, 0x1f),
            (0x7f, 0x9f),
            (0xad, 0xad),
            (0x61c, 0x61c),
            (0x115f, 0x1160),
            (0x180e, 0x180e),
            (0x200b, 0x200f),
            (0x2028, 0x202e),
            (0x2060, 0x206f),
            (0x3164, 0x3164),
            (0xfeff, 0xfeff),
            (0xffa0, 0xffa0),
            (0xfff9, 0xfffb),
            (0xe0000, 0xe007f),
            (0xe0100, 0xe01ef),
        ];
        let listed = |code: u32| ranges.iter().any(|(first, last)| (*first..=*last).contains(&code));
        for character in '\0'..=char::MAX {
            let text = format!("a{character}b");
            assert_eq!(has_hidden(&text), listed(character.into()), "U+{:04X}", u32::from(character));
        }
    }

    #[test]
    fn a_joiner_belongs_to_the_emoji_before_it() {
        for ordinary in ["👩\u{200d}💻", "❤\u{fe0f}\u{200d}🔥", "👍🏽\u{200d}x", "naïve – 日本語", "a\nb\tc\r"]
        {
            assert!(!has_hidden(ordinary), "{ordinary:?}");
        }
        for hidden in ["a\u{200d}b", "\u{200d}👩", "👩\u{200d}\u{200d}", "👩\u{200b}"] {
            assert!(has_hidden(hidden), "{hidden:?}");
        }
    }
}
