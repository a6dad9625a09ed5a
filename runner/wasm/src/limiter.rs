//! The memory that a module may have.
//!
//! Owns the refusal to grow, and the memory of it: a module that ends right after one ended for lack of memory.

use wasmi::ResourceLimiter;
use wasmi::errors::{MemoryError, TableError};
use wasmi_core::LimiterError;

use crate::options::Options;

/// The most elements of all tables. Each takes a few bytes, and stands for a function or for something of the host's.
const MAX_ELEMENTS: usize = 100_000;

/// The limits of a module, and whether they have held it back.
#[derive(Debug)]
pub(crate) struct Limiter {
    bytes: usize,
    refused: bool,
}

impl Limiter {
    pub(crate) fn new(options: &Options) -> Self {
        Self {
            bytes: usize::try_from(options.memory).unwrap_or(usize::MAX).saturating_mul(1 << 20),
            refused: false,
        }
    }

    /// True if growing was refused since the last question.
    pub(crate) fn has_refused(&mut self) -> bool {
        std::mem::take(&mut self.refused)
    }

    fn within(&mut self, desired: usize, most: usize, maximum: Option<usize>) -> bool {
        let own = maximum.is_none_or(|maximum| desired <= maximum);
        self.refused |= desired > most;
        own && desired <= most
    }
}

impl ResourceLimiter for Limiter {
    fn memory_growing(
        &mut self,
        _current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> Result<bool, LimiterError> {
        Ok(self.within(desired, self.bytes, maximum))
    }

    fn table_growing(
        &mut self,
        _current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> Result<bool, LimiterError> {
        Ok(self.within(desired, MAX_ELEMENTS, maximum))
    }

    fn memory_grow_failed(&mut self, _error: &MemoryError) -> Result<(), LimiterError> {
        Ok(())
    }

    fn table_grow_failed(&mut self, _error: &TableError) -> Result<(), LimiterError> {
        Ok(())
    }

    fn instances(&self) -> usize {
        1
    }

    fn tables(&self) -> usize {
        8
    }

    fn memories(&self) -> usize {
        1
    }
}
