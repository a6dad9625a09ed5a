//! Pictures for models, at the size that models use.
//!
//! Owns how long scaling may take, and that a picture which no provider takes is left out: it would have the conversation refused
//! for ever. The worker does it, so that no foreign picture is decoded in the bridge.

use std::rc::Rc;
use std::time::Duration;

use harbor_ipc_proto::link::model::{Cause, FromModel, ToModel};
use harbor_ipc_proto::model::{Image, Part};
use harbor_policy::history::NO_PICTURE;

use super::Models;

/// The longer side, in pixels. The provider would scale larger ones down, and they cost more until then.
const LONGEST: u32 = 1568;

/// How long one picture may take; after that it stays as it is.
const PATIENCE: Duration = Duration::from_secs(20);

impl Models {
    /// Scales down the pictures that are larger than models use. Second: how many are left out, since no provider takes them.
    pub async fn scaled(self: &Rc<Self>, images: Vec<Image>) -> (Vec<Image>, usize) {
        let (count, mut all) = (images.len(), Vec::with_capacity(images.len()));
        for image in images {
            all.extend(self.scaled_one(image).await);
        }
        let left_out = count - all.len();
        (all, left_out)
    }

    /// Scales the pictures among these parts. A sentence stands for one that is left out.
    pub async fn scaled_parts(self: &Rc<Self>, parts: Vec<Part>) -> Vec<Part> {
        let mut all = Vec::with_capacity(parts.len());
        for part in parts {
            all.push(match part {
                Part::Image(image) => {
                    self.scaled_one(image).await.map_or_else(|| Part::Text(NO_PICTURE.into()), Part::Image)
                }
                part => part,
            });
        }
        all
    }

    /// None if no provider takes it.
    async fn scaled_one(self: &Rc<Self>, image: Image) -> Option<Image> {
        let whole = image.clone();
        let mut asked = self.ask(|id| ToModel::Scale { id, image, longest: LONGEST });
        match tokio::time::timeout(PATIENCE, asked.next()).await {
            Ok(FromModel::Scaled { image, .. }) => Some(image),
            Ok(FromModel::Failed { failure, .. }) if failure.cause == Cause::Refused => None,
            _ => Some(whole),
        }
    }
}
