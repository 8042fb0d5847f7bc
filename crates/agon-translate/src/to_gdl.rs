//! Structure rewriting games written in GDL.
