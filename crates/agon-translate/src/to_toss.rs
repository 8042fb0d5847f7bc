//! GDL games written as structure rewriting games.
