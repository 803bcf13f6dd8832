//! What people see of a run: status, metrics, logs, and two commands that follow all agents.

pub mod metrics;
pub mod observe;
pub mod rate_limit;
pub mod status;
pub mod top;
pub mod web;
