qfs_test(tokenizers_test LABEL unit
  SOURCES unit/tokenizers/word_splitter_test.cpp unit/tokenizers/tokenizer_test.cpp unit/tokenizers/tokenizer_json_test.cpp
          unit/tokenizers/truncation_test.cpp unit/tokenizers/chat_template_test.cpp
          unit/tokenizers/sentence_piece_test.cpp unit/tokenizers/folder_json_test.cpp
          unit/tokenizers/chat_program_test.cpp unit/tokenizers/source_layout_test.cpp
          support/gguf_writer.cpp
  LINK qfs_tokenizers)
qfs_test(smollm_tokenizer_test LABEL conformance
  SOURCES conformance/tokenizers/smollm_test.cpp
  LINK qfs_tokenizers qfs_backbone_registry)
qfs_test(trained_tokenizers_test LABEL conformance
  SOURCES conformance/tokenizers/trained_test.cpp support/random_strings.cpp
  LINK qfs_tokenizers)
qfs_test(folder_tokenizers_test LABEL conformance
  SOURCES conformance/tokenizers/folders_test.cpp support/random_strings.cpp
  LINK qfs_tokenizers)
qfs_test(real_tokenizers_test LABEL conformance
  SOURCES conformance/tokenizers/real_files_test.cpp support/random_strings.cpp
  LINK qfs_tokenizers)
qfs_fuzz(tokenizer_json_fuzz
  SOURCES fuzz/tokenizers/tokenizer_json_fuzz.cpp
  LINK qfs_tokenizers)
qfs_fuzz(tokenizer_files_fuzz
  SOURCES fuzz/tokenizers/tokenizer_files_fuzz.cpp
  LINK qfs_tokenizers)
qfs_test(chat_templates_test LABEL conformance
  SOURCES conformance/tokenizers/templates_test.cpp
  LINK qfs_tokenizers qfs_backbone_registry)
qfs_fuzz(source_layout_fuzz
  SOURCES fuzz/tokenizers/source_layout_fuzz.cpp
  LINK qfs_tokenizers)
qfs_fuzz(chat_program_fuzz
  SOURCES fuzz/tokenizers/chat_program_fuzz.cpp
  LINK qfs_tokenizers)
