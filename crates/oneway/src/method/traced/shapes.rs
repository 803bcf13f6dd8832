//! The arithmetic of a step, for any number.

use std::marker::PhantomData;

use crate::numeric::Real;

/// An operation on two numbers.
pub(super) trait Two {
    fn of<S: Real>(a: S, b: S) -> S;
}

macro_rules! two {
    ($($name:ident $operation:tt),*) => {
        $(
            pub(super) struct $name;

            impl Two for $name {
                #[inline(always)]
                fn of<S: Real>(a: S, b: S) -> S {
                    a $operation b
                }
            }
        )*
    };
}

two!(Add +, Sub -, Mul *, Div /);

/// What a step makes of N numbers.
pub(super) trait Formed<const N: usize> {
    fn of<S: Real>(operands: [S; N]) -> S;
}

macro_rules! formed {
    ($($(#[$doc:meta])* $name:ident<$($part:ident),*> [$($operand:ident),*] => $made:expr;)*) => {
        $(
            $(#[$doc])*
            pub(super) struct $name<$($part),*>(PhantomData<($($part,)*)>);

            impl<$($part: Two),*> Formed<{ [$(stringify!($operand)),*].len() }> for $name<$($part),*> {
                #[inline(always)]
                fn of<S: Real>([$($operand),*]: [S; { [$(stringify!($operand)),*].len() }]) -> S {
                    $made
                }
            }
        )*
    };
}

formed! {
    Same<> [a] => a;
    Root<> [a] => a.sqrt();
    One<O> [a, b] => O::of(a, b);
    Left<I, O> [a, b, c] => O::of(I::of(a, b), c);
    Right<O, I> [a, b, c] => O::of(a, I::of(b, c));
    SumOfProducts<> [a, b, c, d] => a * b + c * d;
    DifferenceOfProducts<> [a, b, c, d] => a * b - c * d;
    Choice<> [a, b, c] => a.if_positive(b, c);
    ChoiceByDifference<> [a, b, c, d] => (a - b).if_positive(c, d);
}
