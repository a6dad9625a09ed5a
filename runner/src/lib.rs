//! The runner as a library, so that its parsers can be driven by the fuzz targets. The program is `program`.

mod carrying;
mod confinement;
mod logs;
pub mod mcp;
mod petition;
pub mod program;
mod servers;
mod session;
mod to_bridge;

pub use carrying::Carrying;
pub use petition::Petition;
pub use session::remote::{Carrier, Wire};
