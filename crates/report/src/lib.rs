// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables, charts, run directories, and figures against published values.
