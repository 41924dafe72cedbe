"""Certified heads as folders of Hugging Face's kind: exported, verified, published."""
