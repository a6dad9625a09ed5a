//! Pictures for models, at the size that models use.
//!
//! Owns how long scaling may take. The worker does it, so that no foreign picture is decoded in the bridge.

use std::rc::Rc;
use std::time::Duration;

use harbor_ipc_proto::link::model::{FromModel, ToModel};
use harbor_ipc_proto::model::{Image, Part};

use super::Models;

/// The longer side, in pixels. The provider would scale larger ones down, and they cost more until then.
const LONGEST: u32 = 1568;

/// How long one picture may take; after that it stays as it is.
const PATIENCE: Duration = Duration::from_secs(20);

impl Models {
    /// Scales down the pictures that are larger than models use.
    pub async fn scaled(self: &Rc<Self>, images: Vec<Image>) -> Vec<Image> {
        let mut all = Vec::with_capacity(images.len());
        for image in images {
            all.push(self.scaled_one(image).await);
        }
        all
    }

    /// Scales the pictures among these parts.
    pub async fn scaled_parts(self: &Rc<Self>, parts: Vec<Part>) -> Vec<Part> {
        let mut all = Vec::with_capacity(parts.len());
        for part in parts {
            all.push(match part {
                Part::Image(image) => Part::Image(self.scaled_one(image).await),
                part => part,
            });
        }
        all
    }

    async fn scaled_one(self: &Rc<Self>, image: Image) -> Image {
        let whole = image.clone();
        let mut asked = self.ask(|id| ToModel::Scale { id, image, longest: LONGEST });
        match tokio::time::timeout(PATIENCE, asked.next()).await {
            Ok(FromModel::Scaled { image, .. }) => image,
            _ => whole,
        }
    }
}
