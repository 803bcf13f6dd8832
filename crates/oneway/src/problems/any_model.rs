//! A model that is chosen at run time.

use super::{FiniteSum, LeastSquares, Model, Regulariser, Robust, Sharing, Softmax, TwoLayer};
use crate::Result;
use crate::data::Dataset;
use crate::problem::Problem;

/// One of this library's models. Programs that read its name from a file get their problem here, compiled
/// with this library; with `FiniteSum<M>` they would compile the loops of each M again.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub enum AnyModel {
    Softmax(Softmax),
    TwoLayer(TwoLayer),
    LeastSquares(LeastSquares),
    Robust(Robust),
}

impl AnyModel {
    /// Shares `data` out among agents, as [`FiniteSum::new`] does, and adds the data held out, if there are
    /// any. O(entries).
    ///
    /// ```
    /// use oneway::data::a9a::{Split, a9a};
    /// use oneway::problems::{AnyModel, Regulariser, Sharing, Softmax};
    /// let data = a9a(Split::Train);
    /// let model = AnyModel::Softmax(Softmax::with_classes(data.features, &[-1.0, 1.0])?);
    /// let problem = model.into_problem(data, Regulariser::Ridge(0.01), Sharing::among(10), None)?;
    /// assert_eq!([problem.agents(), problem.dim()], [10, 246]);
    /// # oneway::Result::Ok(())
    /// ```
    pub fn into_problem(
        self,
        data: Dataset,
        regulariser: Regulariser,
        sharing: Sharing,
        test: Option<Dataset>,
    ) -> Result<Box<dyn Problem>> {
        match self {
            AnyModel::Softmax(model) => problem(model, data, regulariser, sharing, test),
            AnyModel::TwoLayer(model) => problem(model, data, regulariser, sharing, test),
            AnyModel::LeastSquares(model) => problem(model, data, regulariser, sharing, test),
            AnyModel::Robust(model) => problem(model, data, regulariser, sharing, test),
        }
    }
}

fn problem(
    model: impl Model + 'static,
    data: Dataset,
    regulariser: Regulariser,
    sharing: Sharing,
    test: Option<Dataset>,
) -> Result<Box<dyn Problem>> {
    let problem = FiniteSum::new(model, &data, regulariser, sharing)?;
    drop(data); // before a test split is taken in: large ones are hundreds of megabytes
    Ok(match test {
        Some(test) => Box::new(problem.with_test(test)?),
        None => Box::new(problem),
    })
}
