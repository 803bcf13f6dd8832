//! Parquet files: records of numbers, one column of which is the label.

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

use oneway::Result;
use oneway::error::shown;

use crate::layout::Role;
use crate::rows::Gatherer;
use crate::source::Source;
use crate::{Expected, Layout, Loaded, wrong};

/// Reads a file, record by record.
pub(crate) fn read<'a>(source: Source<'a>, layout: &Layout, expected: Expected<'a>) -> Result<Loaded> {
    let path = source.path;
    let unreadable =
        |error: parquet::errors::ParquetError| wrong(path, format!("cannot be read as Parquet: {error}"));
    let reader = SerializedFileReader::new(source.file()?).map_err(unreadable)?;
    let schema = reader.metadata().file_metadata().schema();
    let names: Vec<String> = schema.get_fields().iter().map(|field| field.name().to_owned()).collect();
    let columns = layout.columns(path, Some(&names), names.len())?;
    let mut gatherer = Gatherer::new(path, columns.features(), expected)?;
    for (number, record) in (1..).zip(reader.get_row_iter(None).map_err(unreadable)?) {
        let record = record.map_err(unreadable)?;
        let mut feature = 0;
        for (at, ((_, field), role)) in record.get_column_iter().zip(&columns.roles).enumerate() {
            let added = match (role, field) {
                (Role::Dropped, _) => Ok(()),
                (_, Field::Null) => Err("a value is missing".to_owned()),
                (Role::Label, Field::Str(word)) => gatherer.labels().text(word),
                (Role::Label, field) => value(field).and_then(|value| gatherer.labels().number(value)),
                (Role::Feature, field) => {
                    feature += 1;
                    value(field).and_then(|value| gatherer.value(feature - 1, value))
                }
            };
            added.map_err(|message| {
                wrong(path, format!("record {number}, {}: {message}", columns.called(at)))
            })?;
        }
        gatherer.end_row()?;
    }
    gatherer.finish(format!("Parquet; the label is {}", columns.called(columns.label)))
}

fn value(field: &Field) -> std::result::Result<f64, String> {
    let exact = |wide: i128| match wide as f64 {
        value if value as i128 == wide => Ok(value),
        _ => Err(format!("{wide} is a whole number beyond 2⁵³, which no float64 is")),
    };
    match *field {
        Field::Bool(flag) => Ok(f64::from(u8::from(flag))),
        Field::Byte(number) => Ok(number.into()),
        Field::Short(number) => Ok(number.into()),
        Field::Int(number) => Ok(number.into()),
        Field::Long(number) => exact(number.into()),
        Field::UByte(number) => Ok(number.into()),
        Field::UShort(number) => Ok(number.into()),
        Field::UInt(number) => Ok(number.into()),
        Field::ULong(number) => exact(number.into()),
        Field::Float(number) => Ok(number.into()),
        Field::Double(number) => Ok(number),
        ref other => Err(format!("`{}` is not a number", shown(&other.to_string()))),
    }
}
