"""Text of the YuE2 model: its tokenizer and the prompts it was trained with."""
