//! The name of a model among all providers.

/// A provider's id, and a model's name there.
pub(super) type ModelKey = (String, String);
