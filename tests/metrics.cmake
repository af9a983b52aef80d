qfs_test(metrics_test LABEL unit
  SOURCES
    unit/metrics/bertscore_test.cpp
    unit/metrics/bootstrap_test.cpp
    unit/metrics/catalog_test.cpp
    unit/metrics/notes_test.cpp
    unit/metrics/option_parser_test.cpp
    unit/metrics/power_test.cpp
    unit/metrics/punkt_test.cpp
    unit/metrics/randomization_test.cpp
    unit/metrics/rouge155_files_test.cpp
    unit/metrics/rouge155_test.cpp
    unit/metrics/rouge_metric_test.cpp
    unit/metrics/rouge_policies_test.cpp
    unit/metrics/rouge_scorer_test.cpp
    unit/metrics/rouge_zh_test.cpp
    unit/metrics/sacrebleu_test.cpp
    unit/metrics/segmenter_test.cpp
    unit/metrics/set_rouge_test.cpp
    unit/metrics/stemmer_test.cpp
    unit/metrics/surface_test.cpp
    unit/metrics/vocabulary_test.cpp
  LINK qfs_metrics)
qfs_test(metrics_property_test LABEL property
  SOURCES
    property/metrics/gram_matcher_property_test.cpp
    property/metrics/rouge155_property_test.cpp
    property/metrics/rouge_property_test.cpp
    property/metrics/token_matches_property_test.cpp
    property/metrics/vocabulary_property_test.cpp
    support/random_texts.cpp
    support/slow_rouge.cpp
  LINK qfs_metrics)
qfs_test(metrics_conformance_test LABEL conformance
  SOURCES
    conformance/metrics/dyle_lines_conformance_test.cpp
    conformance/metrics/bertscore_conformance_test.cpp
    conformance/metrics/jieba_conformance_test.cpp
    conformance/metrics/punkt_conformance_test.cpp
    conformance/metrics/punkt_texts.cpp
    conformance/metrics/rouge155_conformance_test.cpp
    conformance/metrics/rouge155_hmnet_test.cpp
    conformance/metrics/rouge155_xsum_test.cpp
    conformance/metrics/rouge_conformance_test.cpp
    conformance/metrics/rouge_multi_test.cpp
    conformance/metrics/rouge_real_test.cpp
    conformance/metrics/sacrebleu_conformance_test.cpp
    conformance/metrics/set_rouge_conformance_test.cpp
    conformance/metrics/surface_conformance_test.cpp
    support/chinese_texts.cpp
    support/random_texts.cpp
    support/rouge155_corpus.cpp
    support/rouge155_switches.cpp
  LINK qfs_test_checkpoints qfs_metrics)
qfs_fuzz(metrics_fuzz_baseline SOURCES fuzz/metrics/fuzz_baseline.cpp LINK qfs_metrics)
qfs_fuzz(metrics_fuzz_segmenters SOURCES fuzz/metrics/fuzz_segmenters.cpp LINK qfs_metrics)
qfs_fuzz(metrics_fuzz_jieba_files SOURCES fuzz/metrics/fuzz_jieba_files.cpp LINK qfs_metrics)
qfs_fuzz(metrics_fuzz_punkt SOURCES fuzz/metrics/fuzz_punkt.cpp LINK qfs_metrics)
qfs_fuzz(metrics_fuzz_sacrebleu SOURCES fuzz/metrics/fuzz_sacrebleu.cpp LINK qfs_metrics)
qfs_fuzz(metrics_fuzz_surface SOURCES fuzz/metrics/fuzz_surface.cpp LINK qfs_metrics)
qfs_fuzz(metrics_fuzz_rouge
  SOURCES fuzz/metrics/fuzz_rouge.cpp support/slow_rouge.cpp
  LINK qfs_metrics)
qfs_fuzz(metrics_fuzz_rouge155 SOURCES fuzz/metrics/fuzz_rouge155.cpp LINK qfs_metrics)
# BERTScore over encoders.
if(QFS_TORCH)
  qfs_test(bertscore_models_test TORCH LABEL conformance
    SOURCES conformance/metrics/bertscore_models_test.cpp
    LINK qfs_test_checkpoints qfs_bertscore_session qfs_registry nlohmann_json::nlohmann_json)
endif()
