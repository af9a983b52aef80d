qfs_test(tokenizers_test LABEL unit
  SOURCES unit/models/tokenizers/word_splitter_test.cpp unit/models/tokenizers/tokenizer_test.cpp unit/models/tokenizers/tokenizer_json_test.cpp
          unit/models/prompting/truncation_test.cpp unit/models/prompting/chat_template_test.cpp
          unit/models/tokenizers/sentence_piece_test.cpp unit/models/tokenizers/folder_json_test.cpp
          unit/models/prompting/chat_program_test.cpp unit/models/prompting/source_layout_test.cpp
          support/gguf_writer.cpp
  LINK qfs_tokenizers)
qfs_test(smollm_tokenizer_test LABEL conformance
  SOURCES conformance/models/tokenizers/smollm_test.cpp
  LINK qfs_tokenizers qfs_registry)
qfs_test(trained_tokenizers_test LABEL conformance
  SOURCES conformance/models/tokenizers/trained_test.cpp support/random_strings.cpp
  LINK qfs_tokenizers)
qfs_test(folder_tokenizers_test LABEL conformance
  SOURCES conformance/models/tokenizers/folders_test.cpp support/random_strings.cpp
  LINK qfs_tokenizers)
qfs_test(real_tokenizers_test LABEL conformance
  SOURCES conformance/models/tokenizers/real_files_test.cpp support/random_strings.cpp
  LINK qfs_tokenizers)
qfs_fuzz(tokenizer_json_fuzz
  SOURCES fuzz/models/tokenizers/tokenizer_json_fuzz.cpp
  LINK qfs_tokenizers)
qfs_fuzz(tokenizer_files_fuzz
  SOURCES fuzz/models/tokenizers/tokenizer_files_fuzz.cpp
  LINK qfs_tokenizers)
qfs_test(chat_templates_test LABEL conformance
  SOURCES conformance/models/prompting/templates_test.cpp
  LINK qfs_tokenizers qfs_registry)
qfs_fuzz(source_layout_fuzz
  SOURCES fuzz/models/prompting/source_layout_fuzz.cpp
  LINK qfs_tokenizers)
qfs_fuzz(chat_program_fuzz
  SOURCES fuzz/models/prompting/chat_program_fuzz.cpp
  LINK qfs_tokenizers)
