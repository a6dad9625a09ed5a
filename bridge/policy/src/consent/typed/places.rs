//! Reads a JSON Schema at one place in the arguments: the keys that it names, and its constants.
//!
//! Owns how far a schema is followed: `$ref` within it, `anyOf`, `oneOf`, `allOf`, and a bounded number of them. Must never judge
//! whether arguments fit.

use serde_json::Value;

/// More schemas of one place are not looked at.
const MOST: usize = 64;

/// One place in the arguments.
#[derive(Debug)]
pub(super) struct ArgumentPlace<'a> {
    root: &'a Value,
    /// All schemas that may hold for the place.
    schemas: Vec<&'a Value>,
}

impl<'a> ArgumentPlace<'a> {
    /// The arguments as a whole.
    pub(super) fn root(root: &'a Value) -> Self {
        Self::of(root, [root])
    }

    fn of(root: &'a Value, schemas: impl IntoIterator<Item = &'a Value>) -> Self {
        let mut place = Self { root, schemas: Vec::new() };
        schemas.into_iter().for_each(|schema| place.add(schema));
        let mut at = 0;
        while let Some(schema) = place.schemas.get(at).copied() {
            let reference = schema["$ref"].as_str().and_then(|target| target.strip_prefix('#'));
            reference
                .and_then(|pointer| root.pointer(pointer))
                .into_iter()
                .for_each(|found| place.add(found));
            let lists = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|name| schema[name].as_array());
            lists.flatten().for_each(|schema| place.add(schema));
            at += 1;
        }
        place
    }

    fn add(&mut self, schema: &'a Value) {
        if self.schemas.len() < MOST && !self.schemas.iter().any(|known| std::ptr::eq(*known, schema)) {
            self.schemas.push(schema);
        }
    }

    /// First: true if the schema names this key for the object here. Second: the place of the key's value.
    pub(super) fn member(&self, key: &str) -> (bool, Self) {
        let named: Vec<_> = self.each("properties").filter_map(|properties| properties.get(key)).collect();
        let is_named = !named.is_empty();
        let below = if is_named { named } else { self.each("additionalProperties").collect() };
        (is_named, Self::of(self.root, below))
    }

    /// The place of an item of the array here.
    pub(super) fn item(&self, at: usize) -> Self {
        let listed = |list: &'a Value| if list.is_array() { list.get(at) } else { Some(list) };
        let lists = self.each("prefixItems").chain(self.each("items"));
        Self::of(self.root, lists.filter_map(listed))
    }

    /// The number of constants here, if `text` is one of them. Otherwise none.
    pub(super) fn texts(&self, text: &str) -> Option<usize> {
        self.among(|constant| constant.as_str() == Some(text))
    }

    /// The number of constants here, if `number` is one of them in exactly this notation. Otherwise none.
    pub(super) fn numbers(&self, number: &str) -> Option<usize> {
        self.among(|constant| constant.as_number().is_some_and(|constant| constant.to_string() == number))
    }

    fn among(&self, is_it: impl Fn(&Value) -> bool) -> Option<usize> {
        self.constants().any(is_it).then(|| self.constants().count())
    }

    fn constants(&self) -> impl Iterator<Item = &'a Value> {
        let listed = self.each("enum").filter_map(Value::as_array).flatten();
        self.each("const").chain(self.each("default")).chain(listed)
    }

    fn each(&self, name: &str) -> impl Iterator<Item = &'a Value> {
        self.schemas.iter().filter_map(move |schema| schema.get(name))
    }
}
