"""Errors on every page: one sentence, announced to screen readers."""

from __future__ import annotations

from html import escape

import streamlit as st

from views.explore_session import sentence


def complain(text: str) -> None:
    """Show one sentence."""
    st.html(f'<p class="cut-error" role="alert">{escape(sentence(text))}</p>')
