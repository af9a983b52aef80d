// Users' files: formats, compression, folders, and where each defect is reported.
#include "datasets/readers/record_file.h"

#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include "datasets/readers/catalog.h"
#include "tests/support/temporary_folder.h"

namespace qfs::datasets {
namespace {

constexpr std::string_view kLines =
    "{\"id\": \"a\", \"document\": \"x\", \"query\": \"q\", \"references\": \"r\"}\n"
    "\n"
    "{\"id\": \"b\", \"document\": \"y\", \"query\": \"q\", \"references\": \"r\"}\n";

std::string lines_and(std::string_view more) {
  std::string all(kLines);
  all += more;
  return all;
}

std::string gzip(std::string_view text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(1 << 16, '\0');
  std::string in(text);
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string zstd(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

Result<Dataset> read(const std::string& path, std::map<std::string, std::string> fields = {}) {
  DatasetRequest request;
  request.path = path;
  request.fields = std::move(fields);
  Result<DatasetRequest> resolved = resolve_request(record_file_info(), request);
  if (!resolved) return resolved.error();
  return read_record_files(*resolved);
}

Dataset dataset_of(const std::string& path) {
  Result<Dataset> dataset = read(path);
  EXPECT_TRUE(dataset.ok()) << (dataset ? "" : dataset.error().to_string());
  return dataset ? *std::move(dataset) : Dataset{};
}

Error file_error(const std::string& path, std::map<std::string, std::string> fields = {}) {
  Result<Dataset> dataset = read(path, std::move(fields));
  EXPECT_FALSE(dataset.ok());
  return dataset ? Error{} : dataset.error();
}

TEST(RecordFile, JsonLinesJsonAndCsvGiveTheSameExamples) {
  test::TemporaryFolder folder;
  Dataset lines = dataset_of(folder.write("d.jsonl", kLines));
  Dataset list = dataset_of(
      folder.write("d.json", R"([{"id": "a", "document": "x", "query": "q", "references": "r"},
                    {"id": "b", "document": "y", "query": "q", "references": ["r"]}])"));
  Dataset table =
      dataset_of(folder.write("d.csv", "id,document,query,references\na,x,q,r\nb,y,q,r\n"));
  ASSERT_EQ(lines.examples.size(), 2u);
  EXPECT_EQ(lines.examples, list.examples);
  EXPECT_EQ(lines.examples, table.examples);
  EXPECT_EQ(lines.example_hashes, list.example_hashes);
  EXPECT_NE(lines.id, list.id) << "the files' bytes are part of the id";
}

TEST(RecordFile, JsonFilesMayHaveARecordALineAndTsvHasNoQuotes) {
  test::TemporaryFolder folder;
  EXPECT_EQ(dataset_of(folder.write("l.json", kLines)).examples,
            dataset_of(folder.write("d.jsonl", kLines)).examples);
  Dataset table = dataset_of(folder.write(
      "d.tsv", "id\tdocument\tquery\treferences\na\tsay \"x\", y\tq\tr\r\nb\t\"y\tq\tr"));
  ASSERT_EQ(table.examples.size(), 2u);
  EXPECT_EQ(table.examples[0].document[0].text, "say \"x\", y");
  EXPECT_EQ(table.examples[1].document[0].text, "\"y");
  EXPECT_EQ(table.examples[1].references[0], "r");
  std::string short_row = folder.write("s.tsv", "document\tquery\n\nx\ty\nx\n");
  EXPECT_EQ(file_error(short_row).where, short_row + ":4");
  std::string twice = folder.write("t.tsv", "a\tb\ta\n");
  EXPECT_EQ(file_error(twice).where, twice + ":1");
}

TEST(RecordFile, SeveralFieldsCanHoldAReferenceEach) {
  test::TemporaryFolder folder;
  std::string path = folder.write(
      "d.jsonl", R"({"document": "x", "s1": "a", "more": {"s2": ["b", "c"]}, "p,q": "d"})");
  const auto references = [&](const std::string& fields) {
    Result<Dataset> data = read(path, {{"query", ""}, {"references", fields}});
    EXPECT_TRUE(data.ok()) << (data ? "" : data.error().to_string());
    return data ? data->examples.front().references : std::vector<std::string>{};
  };
  EXPECT_EQ(references("s1,more.s2"), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(references("p,q"), std::vector<std::string>{"d"}) << "a key that is there comes first";
  Error error = file_error(path, {{"query", ""}, {"references", "s1,s3"}});
  EXPECT_EQ(error.where, path + ":1");
  EXPECT_EQ(error.message.substr(0, 18), "missing field 's3'");
}

TEST(RecordFile, BlankFieldsOfSeveralHoldNoReference) {
  test::TemporaryFolder folder;
  const std::string path = folder.write("d.csv", "document,a,b,c\nx,one,, \nx,,,\n");
  const Result<Dataset> data = read(path, {{"query", ""}, {"references", "a,b,c"}});
  ASSERT_TRUE(data.ok()) << data.error().to_string();
  EXPECT_EQ(data->examples[0].references, std::vector<std::string>{"one"});
  EXPECT_EQ(data->examples[1].references, std::vector<std::string>{""}) << "which check tells";
  const std::string null = folder.write("d.jsonl", R"({"document": null, "a": "one"})");
  EXPECT_EQ(file_error(null, {{"query", ""}, {"references", "a"}}).message,
            "'document' (document) is null; an empty text is written \"\"");
}

TEST(RecordFile, QuotesInTsvAreText) {
  test::TemporaryFolder folder;
  const std::string path = folder.write("d.tsv", "document\treferences\n\"a\nb\"\tc\n");
  const Error error = file_error(path, {{"query", ""}});
  EXPECT_EQ(error.where, path + ":2");
  EXPECT_NE(error.message.find("quotation marks are part of a TSV cell"), std::string::npos);
}

TEST(RecordFile, GzipAndZstdAreReadAndHashedAsStored) {
  test::TemporaryFolder folder;
  Dataset plain = dataset_of(folder.write("d.jsonl", kLines));
  Dataset gz = dataset_of(folder.write("d.jsonl.gz", gzip(kLines)));
  Dataset zst = dataset_of(folder.write("d.jsonl.zst", zstd(kLines)));
  EXPECT_EQ(plain.examples, gz.examples);
  EXPECT_EQ(plain.examples, zst.examples);
  EXPECT_NE(plain.manifest.files[0].sha256, gz.manifest.files[0].sha256);
  EXPECT_EQ(gz.manifest.files[0].bytes, static_cast<int64_t>(gzip(kLines).size()));
}

TEST(RecordFile, RenamingAFileKeepsTheId) {
  test::TemporaryFolder folder;
  EXPECT_EQ(dataset_of(folder.write("a.jsonl", kLines)).id,
            dataset_of(folder.write("deep/b.jsonl", kLines)).id);
}

TEST(RecordFile, AFolderIsReadInTheOrderOfNames) {
  test::TemporaryFolder folder;
  folder.write("set/2.jsonl", R"({"document": "late", "query": "", "references": []})");
  folder.write("set/1.jsonl", R"({"document": "early", "query": "", "references": []})");
  folder.write("set/README.md", "not data");
  Dataset dataset = dataset_of(folder / "set");
  ASSERT_EQ(dataset.examples.size(), 2u);
  EXPECT_EQ(dataset.examples[0].document[0].text, "early");
  EXPECT_EQ(dataset.examples[1].key, "2");
  EXPECT_EQ(dataset.manifest.files.size(), 2u);
}

TEST(RecordFileErrors, BrokenJsonIsAtFileLineAndColumn) {
  test::TemporaryFolder folder;
  std::string path = folder.write("d.jsonl", lines_and("{\"id\": }\n"));
  Error error = file_error(path);
  EXPECT_EQ(error.kind, ErrorKind::data);
  EXPECT_EQ(error.where.substr(0, path.size() + 3), path + ":4:");
}

TEST(RecordFileErrors, BadRecordsNameTheirPlaceInEveryFormat) {
  test::TemporaryFolder folder;
  std::string lines = folder.write("d.jsonl", lines_and("{\"document\": \"z\"}\n"));
  EXPECT_EQ(file_error(lines).where, lines + ":4");
  std::string list = folder.write("d.json", R"([{"document": "z"}])");
  EXPECT_EQ(file_error(list).where, list + "#/0");
  std::string table = folder.write("d.csv", "document,query\nx,y\n");
  EXPECT_EQ(file_error(table).where, table + ":2");
}

TEST(RecordFileErrors, RepeatedIdNamesBothPlaces) {
  test::TemporaryFolder folder;
  std::string path = folder.write("d.jsonl", lines_and(kLines));
  Error error = file_error(path);
  EXPECT_EQ(error.message, "id 'a' is already that of " + path + ":1");
  EXPECT_EQ(error.where, path + ":4");
}

TEST(RecordFileErrors, TruncatedGzipAndIllFormedTextAreDataErrors) {
  test::TemporaryFolder folder;
  std::string cut = gzip(kLines);
  cut.resize(cut.size() - 9);
  EXPECT_EQ(file_error(folder.write("d.jsonl.gz", cut)).kind, ErrorKind::data);
  std::string path = folder.write("bad.jsonl", "{}\n\"\xC3\x28\"\n");
  EXPECT_EQ(file_error(path, {{"document", "=x"}, {"query", ""}, {"references", ""}}).where,
            path + ":2");
}

TEST(RecordFileErrors, UnknownKindAbsentFileEmptySetAndJsonObject) {
  test::TemporaryFolder folder;
  EXPECT_EQ(file_error(folder.write("d.txt", "x")).kind, ErrorKind::invalid_argument);
  EXPECT_EQ(file_error(folder / "none.jsonl").kind, ErrorKind::not_found);
  EXPECT_EQ(file_error(folder.write("e.jsonl", "")).message, "no record in the data set");
  EXPECT_TRUE(
      file_error(folder.write("o.json", "{}"))
          .message.ends_with("; a .json file holds a list of records, or one record a line"));
  std::string pretty = folder.write("p.json", "{\n  \"document\": \"x\"\n}\n");
  EXPECT_TRUE(file_error(pretty).where.starts_with(pretty + ":1:")) << file_error(pretty).where;
}

}  // namespace
}  // namespace qfs::datasets
