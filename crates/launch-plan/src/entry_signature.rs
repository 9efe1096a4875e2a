//! The signature that a file's own entry function has: for surveys of answers to problems that are not
//! at hand. A judging always starts from the problem's signature instead.

use domain::{Direction, ElementType, Parameter, ParameterKind, Signature};

use crate::failure::{Fallible, Fault, PlanFailure};
use crate::signature::{ENTRY_NAMES, Shape, host_entries, shape_of};
use crate::source::preprocess::Preprocessed;
use crate::source::text::SourceText;
use crate::syntax::ast::{Function, TypeKind, TypeSyntax};
use crate::syntax::items::items;
use crate::syntax::lower::Lowerer;
use crate::syntax::parse::parse;
use crate::tables::Tables;
use crate::types::Scalar;

/// The parameters of the first `solve` (or `solution`) whose types a problem could have. Pointers to
/// `const` are `in`, others `inout`: the file does not tell which of them it only writes.
pub fn entry_signature(source: &str) -> Result<Signature, PlanFailure> {
    let source = SourceText::new(source);
    read(&source).map_err(|fault| fault.into_failure(source.lines()))
}

fn read(source: &SourceText) -> Fallible<Signature> {
    let preprocessed = Preprocessed::new(source)?;
    let tree = parse(preprocessed.text())?;
    let tables = Tables::new(items(tree.root_node(), &mut Lowerer::new(&preprocessed)));
    let mut refused = None;
    for index in host_entries(&tables) {
        match of_function(tables.function(index), &tables) {
            Ok(signature) => return Ok(signature),
            Err(fault) => refused = refused.or(Some(fault)),
        }
    }
    Err(refused.unwrap_or_else(|| {
        let [first, second] = ENTRY_NAMES;
        let message = format!("the file defines no host function `{first}` or `{second}`");
        Fault::signature(None, message)
    }))
}

fn of_function(function: &Function, tables: &Tables) -> Fallible<Signature> {
    let parameters = function.parameters.iter().enumerate();
    let parameters = parameters.map(|(position, parameter)| {
        let name = match parameter.name.as_str() {
            "" => format!("p{position}"),
            name => name.to_owned(),
        };
        let kind = kind_of(&parameter.ty, tables).ok_or_else(|| {
            let what = shape_of(&parameter.ty, tables).description();
            let message = format!("no problem has a parameter that is {what}");
            Fault::signature(Some(parameter.at), message)
        })?;
        Ok(Parameter { name, kind })
    });
    parameters.collect::<Fallible<Vec<_>>>().map(Signature)
}

fn kind_of(ty: &TypeSyntax, tables: &Tables) -> Option<ParameterKind> {
    Some(match shape_of(ty, tables) {
        Shape::Pointer(scalar) => ParameterKind::Tensor {
            element: element_of(scalar)?,
            direction: if points_to_constant(ty) {
                Direction::In
            } else {
                Direction::Inout
            },
        },
        Shape::Scalar(scalar) => ParameterKind::Scalar {
            element: element_of(scalar)?,
        },
        Shape::Other(_) => return None,
    })
}

fn points_to_constant(ty: &TypeSyntax) -> bool {
    matches!(&ty.kind, TypeKind::Pointer(inner) if inner.constant)
}

fn element_of(scalar: Scalar) -> Option<ElementType> {
    Some(match scalar {
        Scalar::Bool => ElementType::Bool,
        Scalar::Char | Scalar::SignedChar => ElementType::I8,
        Scalar::UChar => ElementType::U8,
        Scalar::Short => ElementType::I16,
        Scalar::UShort => return None,
        Scalar::Int => ElementType::I32,
        Scalar::UInt => ElementType::U32,
        Scalar::Long | Scalar::LongLong => ElementType::I64,
        Scalar::ULong | Scalar::ULongLong => ElementType::U64,
        Scalar::Half => ElementType::F16,
        Scalar::Bf16 => ElementType::Bf16,
        Scalar::E4m3 => ElementType::Fp8E4m3,
        Scalar::E5m2 => ElementType::Fp8E5m2,
        Scalar::Float => ElementType::F32,
        Scalar::Double => ElementType::F64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_tells_its_own_signature() {
        let source = "typedef float real;
            __global__ void k() {}
            extern \"C\" void solve(const float* x, real* __restrict__ y, unsigned char* image,
                                    int n, size_t m, float alpha) { k<<<1, 1>>>(); }";
        let signature = entry_signature(source).unwrap();
        assert_eq!(
            signature.declaration(),
            "void solve(const float* x, float* y, unsigned char* image, int n, \
             unsigned long long m, float alpha)"
        );
    }

    #[test]
    fn types_that_no_problem_has_are_named() {
        let failure = entry_signature("void solve(void* p) {}").unwrap_err();
        assert_eq!(
            failure.to_string(),
            "1:12: no problem has a parameter that is `void*`"
        );
        let failure = entry_signature("int main() {}").unwrap_err();
        assert!(failure.to_string().contains("defines no host function"));
    }
}
