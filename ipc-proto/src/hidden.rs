//! Hidden characters: those that a person does not see, or that change how the text around them is shown.
//!
//! Owns the one list of them, for every question that the person is asked. Must never judge words: people read what a text
//! asks for.
//!
//! The list is that of `extension/shared/text/visible.ts`: the general categories Cc, Cf, Co, Zl and Zp, and
//! Default_Ignorable_Code_Point, all of Unicode 16; noncharacters; and the blanks among the letters. Other unassigned
//! characters are shown as boxes.
//!
//! Two kinds are ordinary if they belong to the character before them. A zero-width joiner is part of many emoji: it is not
//! hidden directly after an emoji, a skin tone or a variation selector 16. A variation selector is not hidden after a
//! character that has such a variant. The two selectors of emoji belong after a character that can be shown as emoji, those
//! of ideographs after an ideograph. The rule looks only at the one character before. So the second of two selectors in a
//! row is hidden: otherwise sixteen of them would be an alphabet that nobody sees.

/// The zero-width joiner.
const JOINER: char = '\u{200d}';

/// True if `text` has a hidden character.
#[must_use]
pub fn has_hidden(text: &str) -> bool {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t' | b'\r')) {
        return false;
    }
    let mut before = ' ';
    text.chars().any(|character| is_hidden(std::mem::replace(&mut before, character), character))
}

/// True if `character` is hidden after `before`. A caller that writes hidden characters out passes the last character of
/// its output as `before`: a joiner after a selector that was written out is hidden too.
#[must_use]
pub fn is_hidden(before: char, character: char) -> bool {
    match character {
        ' '..='~' | '\n' | '\t' | '\r' => false,
        JOINER => !can_be_joined(before),
        '\u{fe0e}' | '\u{fe0f}' => !can_be_emoji(before),
        '\u{e0100}'..='\u{e01ef}' => !is_ideograph(before),
        character => is_format(character) || is_blank(character) || is_nobodys(character),
    }
}

/// True if `character` changes the direction of the text around it, so that people read something else than is there.
#[must_use]
pub fn turns_text(character: char) -> bool {
    matches!(
        character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

/// Controls, formats, and ends of lines and paragraphs: Cc, Cf, Zl and Zp.
fn is_format(character: char) -> bool {
    matches!(
        character,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}'
        // Signs that enclose the digits after them.
        | '\u{600}'..='\u{605}' | '\u{6dd}' | '\u{70f}' | '\u{890}' | '\u{891}' | '\u{8e2}' | '\u{110bd}' | '\u{110cd}'
        // Without width; ends of lines; characters that turn text; characters reserved for such purposes.
        | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        // Annotations between the lines, and characters reserved for them.
        | '\u{fff0}'..='\u{fffb}'
        // Controls of hieroglyphs, shorthand and music.
        | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        // Tags, and everything that plane 14 reserves for such purposes.
        | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Letters without ink, and the variation selectors that no letter here has.
fn is_blank(character: char) -> bool {
    matches!(
        character,
        '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}'
    )
}

/// Private use characters, which each font shows differently, and noncharacters, among them the last two of each plane.
fn is_nobodys(character: char) -> bool {
    let is_last = u32::from(character) & 0xfffe == 0xfffe;
    is_last || matches!(character, '\u{e000}'..='\u{f8ff}' | '\u{fdd0}'..='\u{fdef}' | '\u{f0000}'..)
}

/// Emoji, skin tones among them, and the selector that shows a character as emoji.
fn can_be_joined(character: char) -> bool {
    matches!(
        character,
        '\u{fe0f}' | '\u{1f000}'..='\u{1faff}' | '\u{2600}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}'
    )
}

/// Characters that are text with one selector and emoji with the other: all of Emoji, and its neighbours in the blocks of
/// symbols except Braille.
fn can_be_emoji(character: char) -> bool {
    matches!(
        character,
        '#' | '*' | '0'..='9' | '©' | '®' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}'
        | '\u{2190}'..='\u{27ff}' | '\u{2900}'..='\u{2bff}' | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{1f000}'..='\u{1faff}'
    )
}

/// Unified_Ideograph: only these have variants that are registered.
fn is_ideograph(character: char) -> bool {
    matches!(
        character,
        '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{fa0e}'..='\u{fa29}'
        | '\u{20000}'..='\u{2ee5d}' | '\u{30000}'..='\u{323af}'
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
            (0x34f, 0x34f),
            (0x600, 0x605),
            (0x61c, 0x61c),
            (0x6dd, 0x6dd),
            (0x70f, 0x70f),
            (0x890, 0x891),
            (0x8e2, 0x8e2),
            (0x115f, 0x1160),
            (0x17b4, 0x17b5),
            (0x180b, 0x180f),
            (0x200b, 0x200f),
            (0x2028, 0x202e),
            (0x2060, 0x206f),
            (0x2800, 0x2800),
            (0x3164, 0x3164),
            (0xe000, 0xf8ff),
            (0xfdd0, 0xfdef),
            (0xfe00, 0xfe0f),
            (0xfeff, 0xfeff),
            (0xffa0, 0xffa0),
            (0xfff0, 0xfffb),
            (0x110bd, 0x110bd),
            (0x110cd, 0x110cd),
            (0x13430, 0x1343f),
            (0x1bca0, 0x1bca3),
            (0x1d173, 0x1d17a),
            (0xe0000, 0xe0fff),
            (0xf0000, 0x10ffff),
        ];
        let ends_plane = |code: u32| code % 0x10000 >= 0xfffe;
        let listed = |code: u32| {
            ends_plane(code) || ranges.iter().any(|(first, last)| (*first..=*last).contains(&code))
        };
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

    #[test]
    fn a_selector_belongs_to_what_has_such_a_variant() {
        for ordinary in [
            "❤\u{fe0f} ☺\u{fe0e} 1\u{fe0f}\u{20e3} #\u{fe0f}\u{20e3} ©\u{fe0f}",
            "‼\u{fe0f} ⁉\u{fe0f} ™\u{fe0f} ℹ\u{fe0f} ↔\u{fe0f}",
            "〰\u{fe0f} 〽\u{fe0f} ㊗\u{fe0f} ㊙\u{fe0f} 🅰\u{fe0f} 🏳\u{fe0f}\u{200d}🌈",
            "葛\u{e0100}飾区 辻\u{e0101} \u{fa0e}\u{e0100} 𠮟\u{e0102} \u{30000}\u{e01ef}",
        ] {
            assert!(!has_hidden(ordinary), "{ordinary:?}");
        }
        for hidden in [
            "\u{fe0f}",
            " \u{fe0f}",
            "a\u{fe0f}",
            "é\u{fe0e}",
            "日\u{fe0f}",
            "日\u{fe00}",
            "❤\u{fe00}",
            "❤\u{fe0f}\u{fe0f}",
            "❤\u{fe0f}\u{fe0e}",
            "❤\u{e0100}",
            "a\u{e0100}",
            "⠿\u{fe0f}",
            "か\u{e0100}",
            "\u{f900}\u{e0100}",
            "葛\u{e0100}\u{e0101}",
            "葛\u{e01f0}",
        ] {
            assert!(has_hidden(hidden), "{hidden:?}");
        }
    }

    /// Four bits to a selector: what was read would have left behind an address that looks as it should.
    #[test]
    fn nothing_is_written_in_selectors() {
        let selector = |bits: u8| char::from_u32(0xfe00 + u32::from(bits)).unwrap();
        let written: String =
            b"TOP SECRET 12345".iter().flat_map(|byte| [selector(byte >> 4), selector(byte & 15)]).collect();
        for before in ["https://good.example/", "letter", "❤", "1", "葛"] {
            let text = format!("{before}{written}");
            assert!(has_hidden(&text), "{text:?}");
            let (mut last, mut seen) = (' ', 0);
            for character in text.chars() {
                let is_seen = !is_hidden(std::mem::replace(&mut last, character), character);
                seen += usize::from(is_seen && ('\u{fe00}'..='\u{fe0f}').contains(&character));
            }
            assert_eq!(seen, 0, "{text:?}");
        }
    }
}
