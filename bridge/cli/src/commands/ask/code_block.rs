//! The code block of an answer.
//!
//! Must never change the code, also where the answer ended in the middle of it.

/// The text of the first code block, without its fences; of an indented one nothing is taken. None if there is none.
pub fn first(answer: &str) -> Option<&str> {
    let mut at = 0;
    let mut opened: Option<(usize, &str)> = None;
    for line in answer.split_inclusive('\n') {
        let mark = fence(line);
        match (opened, mark) {
            (None, Some(mark)) => opened = Some((at + line.len(), mark)),
            (Some((begin, open)), Some(mark)) if closes(line, mark, open) => return Some(&answer[begin..at]),
            _ => {}
        }
        at += line.len();
    }
    opened.map(|(begin, _)| &answer[begin..])
}

/// The fence that a line begins with: three or more of one mark, behind at most three spaces.
fn fence(line: &str) -> Option<&str> {
    let text = line.trim_start_matches(' ');
    let mark = text.chars().next().filter(|mark| ['`', '~'].contains(mark))?;
    let length = text.len() - text.trim_start_matches(mark).len();
    (line.len() - text.len() <= 3 && length >= 3).then(|| &text[..length])
}

fn closes(line: &str, mark: &str, open: &str) -> bool {
    mark.starts_with(open) && line.trim() == mark
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_block_is_taken_as_it_stands() {
        let all = [
            ("Here:\n```rust\nlet a = 1;\n\nb\n```\nand\n```\nc\n```\n", Some("let a = 1;\n\nb\n")),
            ("````md\n```\nx\n```\n````\n", Some("```\nx\n```\n")),
            ("~~~\nx\n```\n~~~", Some("x\n```\n")),
            ("```\ncut off", Some("cut off")),
            ("```sh\n", Some("")),
            ("no code, `only` this", None),
            ("    ```\n    indented\n", None),
            ("", None),
        ];
        for (answer, code) in all {
            assert_eq!(first(answer), code, "{answer}");
        }
    }
}
