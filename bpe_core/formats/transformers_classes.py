"""Which class of transformers reads a folder, and what that class does where no file says more.

Source: transformers 5, `models/auto/tokenization_auto.py` and the modules of the classes. A class
that reads a tokenizer.json cuts text by its own rules instead of the file's there, which gave some
models other ids than they were trained with. Here the file's rules hold; a class only adds its
special tokens, and its space in front of a text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

Token = dict[str, Any]
"""An added token as in tokenizer.json; its id may be missing."""
# In the order in which transformers adds them.
ROLES: Final = tuple(f"{role}_token" for role in ("bos", "eos", "unk", "sep", "pad", "cls", "mask"))
"""The special tokens that every class of transformers has a name for."""


@dataclass(frozen=True, slots=True)
class ReadingClass:
    """A class of transformers: what it does where no file says otherwise."""

    roles: Mapping[str, str | Token]
    pretokenizer: str | None = "gpt2"
    """How it cuts the text of vocab.json and merges.txt; None if it does not read them."""
    normalizer: Mapping[str, str] | None = None
    adds_prefix: bool = False
    adds_again: bool = False
    """True if it adds its special tokens again as plain texts, so that they strip no spaces."""


_END: Final = "<|endoftext|>"
_GPT2: Final = ReadingClass(dict.fromkeys(("bos_token", "eos_token", "unk_token"), _END))
_ROBERTA_ROLES: Final = dict(
    zip(ROLES, ("<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>"), strict=True)
)
_ROBERTA: Final = ReadingClass(_ROBERTA_ROLES)
_QWEN2: Final = ReadingClass(
    dict.fromkeys(("eos_token", "unk_token", "pad_token"), _END),
    "qwen2",
    {"type": "NFC"},
    adds_again=True,
)
_COHERE: Final = [
    "BOS_TOKEN",
    "|END_OF_TURN_TOKEN|",
    "UNK",
    "SEP",
    "PAD",
    "CLS",
    "MASK_TOKEN",
]
CLASSES: Final[Mapping[str, ReadingClass]] = {
    **dict.fromkeys(("GPT2Tokenizer", "CodeGenTokenizer", "WhisperTokenizer"), _GPT2),
    **dict.fromkeys(
        ("RobertaTokenizer", "BartTokenizer", "LongformerTokenizer", "LEDTokenizer"), _ROBERTA
    ),
    "BlenderbotTokenizer": ReadingClass(
        {**_ROBERTA_ROLES, "mask_token": {"content": "<mask>", "lstrip": True}}, adds_prefix=True
    ),
    "Qwen2Tokenizer": _QWEN2,
    "Qwen3_5Tokenizer": ReadingClass(_QWEN2.roles, None),
    "GPTNeoXTokenizer": ReadingClass(
        {**_GPT2.roles, "pad_token": "<|padding|>"}, normalizer={"type": "NFC"}
    ),
    "GemmaTokenizer": ReadingClass(
        {f"{role}_token": f"<{role}>" for role in ("bos", "eos", "unk", "pad", "mask")}, None
    ),
    "CohereTokenizer": ReadingClass(
        {role: f"<{name}>" for role, name in zip(ROLES, _COHERE, strict=True)}, None
    ),
}
"""The classes that read byte-pair encoding, as far as they are known here."""

GENERIC: Final = "TokenizersBackend"
"""The class that does what a tokenizer.json says, and nothing else."""
_MODELS: Final = {
    "BartTokenizer": "florence2",
    "BlenderbotTokenizer": "blenderbot",
    "CohereTokenizer": "aya_vision cohere cohere2",
    "GPT2Tokenizer": "blip-2 codegen dbrx emu3 gpt2 gpt_neo gptj hyperclovax_vision_v2 "
    "instructblip instructblipvideo jais2 opt phi starcoder2",
    "GPTNeoXTokenizer": "falcon_mamba gpt_neox mamba mamba2 mpt olmo olmoe rwkv xlstm",
    "GemmaTokenizer": "diffusion_gemma gemma gemma2 gemma3 gemma3_text gemma3n gemma3n_text "
    "recurrent_gemma shieldgemma2 t5gemma zaya",
    "LEDTokenizer": "led",
    "Qwen2Tokenizer": "audioflamingo3 colqwen2 cosmos3_omni dots3_note fun_asr_nano hunyuan_vl "
    "internvl lighton_ocr moss_transcribe_diarize ovis2 qianfan_ocr qwen2 qwen2_5_omni qwen2_5_vl "
    "qwen2_audio qwen2_moe qwen2_vl qwen3 qwen3_asr qwen3_moe qwen3_next qwen3_omni_moe qwen3_vl "
    "qwen3_vl_moe vibevoice",
    "Qwen3_5Tokenizer": "qwen3_5 qwen3_5_moe qwen3_5_moe_text qwen3_5_text qwen4_exp",
    "RobertaTokenizer": "bart bridgetower clap data2vec-text ibert lilt longformer mega mra "
    "roberta roberta-prelayernorm",
    "WhisperTokenizer": "whisper",
    GENERIC: "EvollaModel arctic aria beam bigbird_pegasus camembertv2-base canary chatlm "
    "cohere_asr ernie4_5 ernie4_5_moe flex_olmo fuyu glm glm4 glm4_moe glm4_moe_lite glm4v "
    "glm4v_moe glm_image glmasr got_ocr2 gpt_bigcode gradium_phonon_tts granite granitemoe "
    "granitemoehybrid granitemoeshared h2ovl_chat hyperclovax hyperclovax_vlm internlm2 internlm3 "
    "iquestcoder jamba kimi_k25 kimi_linear kosmos-2 llava llava_next mimo_v2_flash minicpm3 "
    "minicpm_ocr minicpmv minicpmv4_6 minicpmv4_7 minimax_m2 ministral ministral3 mistral mistral3 "
    "mistral_large4 mixtral modernbert modernbert-decoder molmo molmo2 nemo_speechlm nemotron "
    "nvfp4 nystromformer olmo2 olmo3 olmo_hybrid opencua openvla paddleocr_vl pegasus_x persimmon "
    "phi3 phi3_v phimoe pix2struct pixtral pocket_tts smolvlm stablelm step3_vl umt5 vipllava "
    "voxtral voxtral_realtime xlm-roberta-xl",
}
_CLASS_OF_MODEL: Final = {
    model: name for name, models in _MODELS.items() for model in models.split()
}
_MISNAMED: Final = frozenset(
    {
        "hyperclovax_vision_v2",
        "qwen2",
        "qwen3_5",
        "qwen3_5_moe",
        "qwen3_5_moe_text",
        "qwen4_exp",
    }
)
"""The models whose folders often name a class that is not theirs."""


def class_name(named: str | None, model_type: str) -> str | None:
    """Return the class that reads a folder; None if the type of its model is not known here.

    `named` is the class that the folder's files name, and `model_type` is from its config.json.

    >>> class_name("GPT2TokenizerFast", "gpt2"), class_name(None, "qwen3")
    ('GPT2Tokenizer', 'Qwen2Tokenizer')
    >>> class_name("GPT2Tokenizer", "phi3"), class_name("PreTrainedTokenizerFast", "qwen2")
    ('TokenizersBackend', 'Qwen2Tokenizer')
    """
    of_model = _CLASS_OF_MODEL.get(model_type)
    if named is None or of_model == GENERIC or model_type in _MISNAMED:
        return of_model
    return named.removesuffix("Fast")
