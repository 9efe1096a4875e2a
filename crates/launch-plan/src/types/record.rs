//! Structs and unions whose layout the host needs.

use std::rc::Rc;

use super::{Scalar, Type};

/// Bytes of a union on the host, and scalars in all its fields together.
const MAX_UNION: u64 = 64;
/// Unions within unions.
const MAX_UNIONS_WITHIN: u32 = 4;

/// A `struct` whose layout the host needs: the file's own plain ones and CUDA's vector types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    /// The name that C++ code uses.
    pub(crate) name: String,
    pub(crate) fields: Vec<Field>,
    pub(crate) size_bytes: u64,
    pub(crate) align_bytes: u64,
    /// A union: all fields lie at the start.
    pub(crate) overlapping: bool,
    /// Whether something happens where an object ends: its own destructor, or one of a field.
    pub(crate) has_destructor: bool,
    /// Whether its class writes a constructor that copies or moves, or one of a field does.
    pub(crate) has_copy_constructor: bool,
    /// What it is where its first field is something that it holds for others.
    pub(crate) holder: Option<Holder>,
}

/// A struct of the standard library that stands for what it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holder {
    /// `std::unique_ptr`: a pointer, and the deleter where it is not `delete`.
    Unique,
    /// `std::optional`: a value, and whether there is one.
    Optional,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) ty: Type,
    pub(crate) offset_bytes: u64,
}

impl Field {
    /// The struct or union whose fields are also those of the record around this field.
    pub(crate) fn anonymous(&self) -> Option<&Rc<Record>> {
        match &self.ty {
            Type::Record(record) if self.name.is_empty() => Some(record),
            _ => None,
        }
    }
}

impl Record {
    /// Lays fields out in order, each at its own alignment.
    pub(crate) fn new(name: &str, members: Vec<(String, Type)>) -> Option<Self> {
        let mut fields = Vec::new();
        let mut end = 0_u64;
        let mut align_bytes = 1;
        for (name, ty) in members {
            let (size, align) = (ty.size_bytes()?, ty.align_bytes()?);
            let offset_bytes = end.next_multiple_of(align);
            end = offset_bytes.checked_add(size)?;
            align_bytes = align.max(align_bytes);
            fields.push(Field {
                name,
                ty,
                offset_bytes,
            });
        }
        let has_destructor = fields.iter().any(|field: &Field| field.ty.has_destructor());
        let has_copy_constructor = fields
            .iter()
            .any(|field: &Field| field.ty.is_copied_by_function());
        Some(Self {
            name: name.to_owned(),
            fields,
            size_bytes: end.checked_next_multiple_of(align_bytes)?.max(1),
            align_bytes,
            overlapping: false,
            has_destructor,
            has_copy_constructor,
            holder: None,
        })
    }

    /// Lays fields out on top of each other. `None` also where keeping them alike at every assignment would
    /// be more than a step's work.
    pub(crate) fn union(name: &str, members: Vec<(String, Type)>) -> Option<Self> {
        let mut record = Self::new(name, members)?;
        let types = || record.fields.iter().map(|field| &field.ty);
        let size = types().filter_map(Type::size_bytes).max().unwrap_or(0);
        let scalars = types().fold(0_u64, |sum, ty| sum.saturating_add(ty.scalars()));
        if size.max(scalars) > MAX_UNION
            || types().any(|ty| ty.unions_within() >= MAX_UNIONS_WITHIN)
            || record.has_destructor
        {
            return None;
        }
        record.size_bytes = size.next_multiple_of(record.align_bytes).max(1);
        record.overlapping = true;
        for field in &mut record.fields {
            field.offset_bytes = 0;
        }
        Some(record)
    }

    pub(crate) fn field(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| field.name == name)
    }

    /// The way to a field by name: those of a struct or union without a name are found as if they were the
    /// record's own.
    pub(crate) fn path_to(&self, name: &str) -> Option<(Vec<usize>, &Type)> {
        if let Some(index) = self.field(name) {
            return Some((vec![index], &self.fields[index].ty));
        }
        let mut inner = self.fields.iter().enumerate();
        inner.find_map(|(index, field)| {
            let (mut path, ty) = field.anonymous()?.path_to(name)?;
            path.insert(0, index);
            Some((path, ty))
        })
    }

    /// `std::pair`
    pub(crate) fn pair(first: Type, second: Type) -> Option<Self> {
        let name = format!("std::pair<{first}, {second}>");
        Self::new(
            &name,
            vec![("first".to_owned(), first), ("second".to_owned(), second)],
        )
    }

    /// `std::tuple`; its fields have numbers, which nobody can write.
    pub(crate) fn tuple(types: Vec<Type>) -> Option<Self> {
        let names: Vec<String> = types.iter().map(Type::to_string).collect();
        let fields = types.into_iter().enumerate();
        let fields = fields.map(|(index, ty)| (index.to_string(), ty)).collect();
        Self::new(&format!("std::tuple<{}>", names.join(", ")), fields)
    }

    /// `std::unique_ptr`
    pub(crate) fn unique_ptr(element: Type, is_array: bool, deleter: Option<Type>) -> Option<Self> {
        let array = if is_array { "[]" } else { "" };
        let own = deleter
            .as_ref()
            .map_or(String::new(), |ty| format!(", {ty}"));
        let name = format!("std::unique_ptr<{element}{array}{own}>");
        // A deleter without fields takes no room.
        let is_empty = match &deleter {
            Some(Type::Record(deleter)) => deleter.fields.is_empty(),
            Some(Type::Closure(_)) | None => true,
            _ => false,
        };
        let pointer = ("0".to_owned(), Type::pointer_to(element, false));
        let mut record = Self::new(&name, vec![pointer])?;
        if let Some(ty) = deleter {
            let offset_bytes = record.size_bytes;
            if !is_empty {
                record.size_bytes += ty.size_bytes()?.next_multiple_of(record.align_bytes);
            }
            let name = "1".to_owned();
            record.fields.push(Field {
                name,
                ty,
                offset_bytes,
            });
        }
        record.has_destructor = true;
        record.holder = Some(Holder::Unique);
        Some(record)
    }

    /// `std::optional`
    pub(crate) fn optional(held: Type) -> Option<Self> {
        let name = format!("std::optional<{held}>");
        let fields = [("0", held), ("1", Type::BOOL)];
        let fields = fields.map(|(name, ty)| (name.to_owned(), ty));
        let mut record = Self::new(&name, fields.into())?;
        record.holder = Some(Holder::Optional);
        Some(record)
    }

    /// `dim3`, `uint3`, `float4` and their like.
    pub(crate) fn builtin(name: &str) -> Option<Self> {
        let (element, count, align) = match name {
            "dim3" => (Scalar::UInt, 3, 4),
            "half2" | "__half2" => (Scalar::Half, 2, 4),
            "__nv_bfloat162" | "nv_bfloat162" => (Scalar::Bf16, 2, 4),
            _ => {
                let count = name.bytes().last()?.checked_sub(b'0')?;
                if !(1..=4).contains(&count) {
                    return None;
                }
                let element = match &name[..name.len() - 1] {
                    "char" => Scalar::SignedChar,
                    "uchar" => Scalar::UChar,
                    "short" => Scalar::Short,
                    "ushort" => Scalar::UShort,
                    "int" => Scalar::Int,
                    "uint" => Scalar::UInt,
                    "long" => Scalar::Long,
                    "ulong" => Scalar::ULong,
                    "longlong" => Scalar::LongLong,
                    "ulonglong" => Scalar::ULongLong,
                    "float" => Scalar::Float,
                    "double" => Scalar::Double,
                    _ => return None,
                };
                let size = element.size_bytes();
                let align = if count == 3 {
                    size
                } else {
                    (size * u64::from(count)).min(16)
                };
                (element, count, align)
            }
        };
        let members = ["x", "y", "z", "w"]
            .into_iter()
            .take(count.into())
            .map(|field| (field.to_owned(), Type::Scalar(element)))
            .collect();
        let name = match name {
            "half2" => "__half2",
            "nv_bfloat162" => "__nv_bfloat162",
            other => other,
        };
        let mut record = Self::new(name, members)?;
        record.align_bytes = align;
        record.size_bytes = record.size_bytes.next_multiple_of(align);
        Some(record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_laid_out_as_in_c() {
        let record = Record::new(
            "S",
            vec![
                ("a".into(), Type::Scalar(Scalar::Char)),
                ("b".into(), Type::Scalar(Scalar::Double)),
                ("c".into(), Type::INT),
            ],
        )
        .unwrap();
        let offsets: Vec<u64> = record.fields.iter().map(|f| f.offset_bytes).collect();
        assert_eq!((offsets, record.size_bytes), (vec![0, 8, 16], 24));
        let float4 = Record::builtin("float4").unwrap();
        assert_eq!((float4.size_bytes, float4.align_bytes), (16, 16));
        let float3 = Record::builtin("float3").unwrap();
        assert_eq!((float3.size_bytes, float3.align_bytes), (12, 4));
        assert_eq!(Record::builtin("dim3").unwrap().size_bytes, 12);
        assert_eq!(Record::builtin("float5"), None);
    }
}
