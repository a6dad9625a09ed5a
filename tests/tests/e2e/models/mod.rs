//! Language models through the real bridge and the real model worker, at a scripted provider that speaks Chat Completions.

mod budgets;
mod chats;
mod origins;
mod providers;
mod scene;
