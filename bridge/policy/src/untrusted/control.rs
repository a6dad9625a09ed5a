//! Control words of chat templates. In a tool's result they would end its turn and begin another one, and the model could not
//! tell. Servers that fill templates turn them into control tokens.
//!
//! Owns which words these are, and where a blank breaks them: no tokenizer takes `< |im_end| >` for `<|im_end|>`. Letters count
//! in either case, and a word counts wherever it ends: an attribute or a number behind it changes nothing.

/// Words behind `<` or `</`.
const TAGS: [&str; 44] = [
    "s",
    "bos",
    "eos",
    "pad",
    "unk",
    "mask",
    "eot",
    "eod",
    "eop",
    "sop",
    "sys",
    "turn",
    "channel",
    "start_of_turn",
    "end_of_turn",
    "end_of_utterance",
    "start_of_image",
    "end_of_image",
    "image_soft_token",
    "bos_token",
    "eos_token",
    "pad_token",
    "tool",
    "tools",
    "tool_call",
    "tool_calls",
    "tool_response",
    "tool_result",
    "tool_results",
    "tool_code",
    "tool_output",
    "toolcall",
    "longcat_tool_call",
    "function",
    "function_call",
    "function_calls",
    "function_results",
    "parameter",
    "invoke",
    "arg_key",
    "arg_value",
    "think",
    "system",
    "assistant",
];

/// The beginnings of words behind `<` or `</`.
const FAMILIES: [&str; 9] =
    ["reserved_", "unused", "extra_id_", "special_", "seed:", "minimax:", "antml:", "longcat_", "ctrl"];

/// Words between brackets.
const BRACKETED: [&str; 25] = [
    "inst",
    "system_prompt",
    "available_tools",
    "tool_calls",
    "tool_results",
    "tool_content",
    "args",
    "call_id",
    "img",
    "img_break",
    "img_end",
    "audio",
    "begin_audio",
    "prefix",
    "middle",
    "suffix",
    "think",
    "model_settings",
    "gmask",
    "smask",
    "sop",
    "mask",
    "cls",
    "sep",
    "pad",
];

/// True if a tokenizer may see a control word in `text`.
#[must_use]
pub fn has_control_word(text: &str) -> bool {
    text.char_indices().any(|(at, c)| begins_word(c, &text[at + c.len_utf8()..]))
}

/// True if `c` and the text behind it are a control word, or the end of one, so that a blank belongs between them.
pub(super) fn begins_word(c: char, rest: &str) -> bool {
    match c {
        '<' | '＜' => rest.starts_with(['|', '｜']) || is_tag(rest),
        '[' => is_bracketed(rest) || rest.starts_with("e~["),
        '|' | '｜' => rest.starts_with(['>', '＞']),
        ']' => rest.starts_with("~b]") || rest.starts_with("~!b["),
        _ => false,
    }
}

fn is_tag(rest: &str) -> bool {
    let rest = rest.strip_prefix('/').unwrap_or(rest);
    let length = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || b"_:".contains(byte)).count();
    let word = &rest[..length];
    let is_one = |known: &&str| word.eq_ignore_ascii_case(known);
    let is_of = |family: &&str| has_head(word, family);
    TAGS.iter().any(is_one) || FAMILIES.iter().any(is_of)
}

/// `INST]`, `/INST]`, and `|user|]` of another family.
fn is_bracketed(rest: &str) -> bool {
    if let Some(rest) = rest.strip_prefix('|') {
        return rest.starts_with(|c: char| c.is_ascii_alphabetic());
    }
    let rest = rest.strip_prefix('/').unwrap_or(rest);
    let Some((word, _)) = rest.get(..rest.floor_char_boundary(24)).and_then(|head| head.split_once(']'))
    else {
        return false;
    };
    BRACKETED.iter().any(|known| word.eq_ignore_ascii_case(known))
}

fn has_head(word: &str, head: &str) -> bool {
    word.get(..head.len()).is_some_and(|start| start.eq_ignore_ascii_case(head))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_all_families_are_known_and_ordinary_text_is_not() {
        for word in [
            "<|im_end|>",
            "<|im_start|>system",
            "<|eot_id|>",
            "</s>",
            "<s>",
            "[INST]",
            "[/INST]",
            "[TOOL_CALLS]",
            "<<SYS>>",
            "<start_of_turn>",
            "<end_of_turn>",
            "<turn|>",
            "<tool_call>",
            "</tool_call>",
            "</tool_response>",
            "<TOOL_CALL>",
            "<｜tool▁calls▁begin｜>",
            "<｜end▁of▁sentence｜>",
            "＜|im_end|＞",
            "<think>",
            "<function=get>",
            "<parameter=x>",
            "<invoke name=\"x\">",
            "<unused12>",
            "<reserved_106>",
            "<SPECIAL_12>",
            "<seed:bos>",
            "[gMASK]",
            "[|endofturn|]",
            "[e~[",
            "]~b]ai",
        ] {
            assert!(has_control_word(word), "{word}");
        }
        for ordinary in [
            "a < b | c > d",
            "<span>x</span>",
            "<strong>",
            "< tool_call>",
            "x[i] || y",
            "[ERROR] it failed",
            "[1, 2]",
            "a <b> | c",
            "日本語 <ä>",
        ] {
            assert!(!has_control_word(ordinary), "{ordinary}");
        }
    }
}
