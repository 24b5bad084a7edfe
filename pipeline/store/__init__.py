"""Data folders: Parquet tables beside a manifest, and the catalog of them."""
