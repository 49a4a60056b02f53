"""A transformer of two random layers, small enough for any test, in the files a real one has."""

from pathlib import Path

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertModel

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "sta", "##tion", "##s", "was", "cafe", "."]
POSITIONS = 512


def write_bert(directory: Path, positions: int = POSITIONS) -> Path:
    """A random BERT of two layers and 32 dimensions, as one is published, with its tokenizer."""
    torch.manual_seed(3)
    config = BertConfig(
        vocab_size=len(PIECES),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=48,
        max_position_embeddings=positions,
        initializer_range=0.5,  # so that the layers differ
    )
    BertModel(config, add_pooling_layer=False).save_pretrained(directory)
    tokenizer = Tokenizer(
        models.WordPiece({piece: id_ for id_, piece in enumerate(PIECES)}, unk_token="[UNK]")
    )
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True, strip_accents=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.save(str(directory / "tokenizer.json"))
    return directory
