//! The labels by which Harbor knows its containers.
//!
//! Must never change: containers of an older bridge have them.

/// The label by which the containers of one home are found.
pub const INSTANCE_LABEL: &str = "harbor.instance";

/// The label by which those of one server are.
pub const SERVER_LABEL: &str = "harbor.server";
