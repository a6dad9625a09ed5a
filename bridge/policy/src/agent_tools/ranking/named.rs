//! Decides if a task names what a tool is for.
//!
//! Owns that rule. A model that has no way of its own to call tools rarely begins to; where the task names a tool's subject, it is
//! made to. Must never count the verb of a tool's name: almost anything can be got or found.

use super::ToolIndex;

impl ToolIndex {
    /// True if a word of the task, or what it means, is in the name of a tool, behind its verb.
    #[must_use]
    pub fn is_named_by(&self, task: &str) -> bool {
        let words = self.task_words(task, false);
        let mut meant = words.iter().flat_map(|word| &word.stands_for);
        meant.any(|(terms, _)| terms.iter().any(|term| self.subjects.contains(term)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::RankedTool;
    use super::*;

    #[test]
    fn a_task_names_a_tool_by_its_subject_and_not_by_a_verb() {
        let tool = |server, name| RankedTool { server, name, title: "", description: "", parameters: "" };
        let tools = [tool("time", "get_current_time"), tool("time", "convert_time"), tool("web", "fetch")];
        let index = ToolIndex::of(tools);
        for task in ["what time is it in Tokyo?", "Wie spät ist es in Tokio?", "sum up https://a.example/b"]
        {
            assert!(index.is_named_by(task), "{task}");
        }
        for task in ["", "hi", "write a poem about the sea", "convert this into French", "get me a joke"] {
            assert!(!index.is_named_by(task), "{task}");
        }
    }
}
