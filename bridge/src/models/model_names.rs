//! The person's names of models, as they are stored.

use crate::store::StoreError;
use crate::store::models::{ModelTables, NameKind, NamedModels};

/// The names of models.
#[derive(Debug)]
pub(super) struct ModelNames {
    pub(super) own: NamedModels,
    pub(super) uses: NamedModels,
}

impl ModelNames {
    /// The names that are stored.
    ///
    /// # Errors
    /// When they cannot be read.
    pub(super) async fn open(tables: &ModelTables) -> Result<Self, StoreError> {
        Ok(Self { own: tables.names(NameKind::Own).await?, uses: tables.names(NameKind::Use).await? })
    }

    /// Forgets the names of a provider's models.
    pub(super) fn forget(&mut self, provider: &str) {
        self.own.retain(|_, (known, _)| known != provider);
        self.uses.retain(|_, (known, _)| known != provider);
    }

    /// The names of a kind.
    pub(super) fn of(&mut self, kind: NameKind) -> &mut NamedModels {
        match kind {
            NameKind::Own => &mut self.own,
            NameKind::Use => &mut self.uses,
        }
    }
}
