//! What is asked of experiments and networks beyond running them.

pub(crate) mod audit;
pub(crate) mod certify;
pub(crate) mod claims;
pub(crate) mod claims_map;
pub(crate) mod inspect;
pub(crate) mod methods_page;
pub(crate) mod sensitivity;
pub(crate) mod sweep_stability;
pub(crate) mod tune;
