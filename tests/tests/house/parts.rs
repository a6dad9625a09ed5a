//! A server is made of few parts. Each owns one thing and gives out no cell of its own.

use super::architecture::all_sources;

/// A server has at most this many parts.
const MOST_PARTS: usize = 9;

/// A part has at most this many fields.
const MOST_FIELDS: usize = 12;

const PARTS: &str = "bridge/src/supervisor/server/parts/";

/// The structs of a source, each with the number of its fields.
fn structs(source: &str) -> Vec<(String, usize)> {
    let mut found: Vec<(String, usize)> = Vec::new();
    let mut is_open = false;
    for line in source.lines() {
        let name = line.split_once("struct ").map(|(_, rest)| rest);
        if let Some(name) = name.filter(|_| line.ends_with('{') && !line.starts_with([' ', '/'])) {
            let end = name.find(|letter: char| !letter.is_alphanumeric()).unwrap_or(name.len());
            found.push((name[..end].to_owned(), 0));
            is_open = true;
        } else if line == "}" {
            is_open = false;
        } else if let Some((_, fields)) = found.last_mut().filter(|_| is_open) {
            let text = line.trim_start();
            *fields += usize::from(text.contains(": ") && !text.starts_with(['/', '#']));
        }
    }
    found
}

/// True if a line of a function's head gives out a cell, or a borrow of one.
fn gives_a_cell(line: &str) -> bool {
    let Some((_, result)) = line.split_once("-> ") else { return false };
    ["Cell<", "RefCell<", "Ref<", "RefMut<"].iter().any(|cell| result.contains(cell))
}

/// True if a line is a field that others see into, with a cell in it.
fn is_open_cell(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("pub") && !line.contains("fn ") && line.contains("Cell<")
}

#[test]
fn a_server_is_few_parts_and_none_gives_out_its_cells() {
    let sources = all_sources();
    let of =
        |part: &'static str| sources.iter().filter(move |(path, _)| path.to_string_lossy().contains(part));
    let (_, server) = of("bridge/src/supervisor/server.rs").next().unwrap();
    let parts = structs(server);
    assert!(parts.iter().all(|(_, fields)| *fields <= MOST_PARTS), "{MOST_PARTS} parts may be: {parts:?}");
    let mut count = 0;
    for (path, source) in of(PARTS) {
        for (name, fields) in structs(source) {
            assert!(
                fields <= MOST_FIELDS,
                "{}: {name} has {fields} fields, {MOST_FIELDS} may be",
                path.display()
            );
            count += 1;
        }
        let given: Vec<_> = source.lines().filter(|line| gives_a_cell(line) || is_open_cell(line)).collect();
        assert!(given.is_empty(), "{}: {given:?}", path.display());
    }
    assert!(count >= MOST_PARTS, "only {count} types were found below {PARTS}");
    // Beside its parts nothing of a server is in a cell.
    for (path, source) in of("bridge/src/supervisor/server/") {
        let is_part = path.to_string_lossy().contains(PARTS);
        assert!(is_part || !source.contains("Cell<"), "{} has a cell: it belongs to a part", path.display());
    }
}

#[test]
fn fields_are_counted_and_functions_are_read() {
    let source =
        "pub struct A<T> {\n    /// Of: it.\n    a: T,\n    pub b: u8,\n}\nstruct B {\n    c: u8,\n}\n";
    assert_eq!(structs(source), [("A".to_owned(), 2), ("B".to_owned(), 1)]);
    assert!(gives_a_cell("    fn a(&self) -> Ref<'_, u8> {") && !gives_a_cell("    fn a(&self) -> Rc<u8> {"));
    assert!(gives_a_cell("    fn a(&self) -> &RefCell<u8> {"));
}
