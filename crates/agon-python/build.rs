//! Lets the module be linked on macOS without a Python library, as it is on Linux.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
