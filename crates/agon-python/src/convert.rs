//! Conversions between Python and the library.

use agon::{Role, Shape};
use pyo3::exceptions::{PyImportError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::Value;

use crate::error::wrong;

/// Converts a JSON value to dictionaries, lists, texts and numbers.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(value) => value.into_pyobject(py)?.to_owned().into_any(),
        Value::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
            (Some(whole), _, _) => whole.into_pyobject(py)?.into_any(),
            (None, Some(whole), _) => whole.into_pyobject(py)?.into_any(),
            (None, None, real) => real.unwrap_or(f64::NAN).into_pyobject(py)?.into_any(),
        },
        Value::String(text) => text.into_pyobject(py)?.into_any(),
        Value::Array(items) => {
            let list = PyList::empty(py);
            for item in items {
                list.append(to_python(py, item)?)?;
            }
            list.into_any()
        }
        Value::Object(object) => {
            let dict = PyDict::new(py);
            for (key, value) in object {
                dict.set_item(key, to_python(py, value)?)?;
            }
            dict.into_any()
        }
    })
}

/// Makes a record of a class in `agon._records`.
pub(crate) fn record<'py>(
    py: Python<'py>,
    class: &str,
    fields: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    py.import("agon._records")?.getattr(class)?.call((), Some(fields))
}

/// Returns the role that Python names: by its name or by its number in `Game.roles`.
pub(crate) fn role_of(shape: &Shape, role: &Bound<'_, PyAny>) -> PyResult<Role> {
    let n_roles = shape.role_names.len();
    let list = || shape.role_names.join(", ");
    if let Ok(name) = role.extract::<String>() {
        return shape
            .role_named(&name)
            .ok_or_else(|| wrong(&format!("there is no role `{name}`; the roles are {}", list())));
    }
    if let Ok(index) = role.extract::<isize>() {
        let found = usize::try_from(index).ok().filter(|index| *index < n_roles);
        return found
            .map(Role::new)
            .ok_or_else(|| wrong(&format!("there is no role {index}; the roles are {}", list())));
    }
    Err(PyTypeError::new_err("a role is its name or its number in `Game.roles`"))
}

/// Raises `ImportError` with advice if numpy is missing.
pub(crate) fn need_numpy(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    py.import("numpy").map_err(|error| {
        // Ctrl-C may come while numpy is being imported.
        if error.is_instance_of::<PyImportError>(py) {
            PyImportError::new_err("arrays need numpy, which is not installed: pip install numpy")
        } else {
            error
        }
    })
}
