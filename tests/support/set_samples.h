// A small well-formed split of every published set, written for this project: what tests of the
// readers start from, and break.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace qfs::test {

struct SetSample {
  std::string set;
  std::string split;
  std::map<std::string, std::string> files;
  std::string path;  ///< of the file that is broken
  int line = 2;      ///< of the record in it that is broken
};

inline std::vector<SetSample> set_samples() {
  const std::string meeting =
      R"({"id": "M1", "meeting": [{"speaker": "A", "role": "PM", "utt": {"word": ["Well", "."]}},)"
      R"( {"speaker": "B", "role": "ME", "utt": {"word": ["Yes"]}}, {"speaker": "C", "role": "ME",)"
      R"( "utt": {"word": ["No"]}}], "summary": ["They met .", "They parted ."]})"
      "\n";
  const std::string second_meeting =
      R"({"id": "M2", "meeting": [{"speaker": "A", "role": "PM", "utt": {"word": ["Hm"]}}],)"
      R"( "summary": ["Nobody came ."]})"
      "\n";
  const std::string inference =
      R"({"ID": "d-1", "Dialogue": ["A: I am late .", "B: Again ?"], "Target": "Again ?",)"
      R"( "Question": "Why?", "Choices": ["Traffic.", "A cat.", "He overslept."],)"
      R"( "Correct Answers": [0, 2], "Human Written Answer": [2]})"
      "\n";
  const std::string paper =
      R"({"article_id": "p1", "article_text": ["we study x .", "it works ."], "abstract_text":)"
      R"( ["<S> we study x . </S>", "<S> good . </S>"], "labels": null, "section_names": ["a"],)"
      R"( "sections": [["we study x .", "it works ."]]})"
      "\n";
  const std::string second_paper =
      R"({"article_id": "p2", "article_text": ["y ."], "abstract_text": ["<S> y . </S>"]})"
      "\n";
  const std::string segment =
      R"({"id": "7_0", "av_num": 1, "context": [["你好。", "开始。"], ["好。"]], "speaker": [1, 2],)"
      R"( "discussion": "开会。", "agenda": "开始", "highlights": []})"
      "\n";
  const std::string second_segment =
      R"({"id": "7_1", "av_num": 1, "context": [["完。"]], "speaker": [1], "discussion": "结束。",)"
      R"( "agenda": "结束"})"
      "\n";
  const std::string dialogue =
      R"({"fname": "t_0", "dialogue": "#Person1#: Hi.\n#Person2#:Bye.", "summary1": "a",)"
      R"( "topic1": "x", "summary2": "b", "topic2": "x", "summary3": "c", "topic3": "x"})"
      "\n";
  const std::string second_dialogue =
      R"({"fname": "t_1", "dialogue": "#Person1#: Me.", "summary1": "d", "summary2": "e",)"
      R"( "summary3": "f"})"
      "\n";
  const std::string article = "[SN]URL[SN]\nhttp://x\n\n[SN]TITLE[SN]\nT\n\n";
  return {
      {"ami",
       "val",
       {{"AMI_proprec/dev/split_0.jsonl.gz", second_meeting + meeting}},
       "AMI_proprec/dev/split_0.jsonl.gz"},
      {"cicero-v2", "test", {{"v2/data/test.json", inference + inference}}, "v2/data/test.json"},
      {"cicero", "train", {{"v1/data/train.json", inference + inference}}, "v1/data/train.json"},
      {"arxiv-summarization",
       "test",
       {{"arxiv-dataset/test.txt", second_paper + paper}},
       "arxiv-dataset/test.txt"},
      {"vcsum",
       "dev",
       {{"vcsum_data/short_dev.txt", second_segment + segment}},
       "vcsum_data/short_dev.txt"},
      {"vcsum-long",
       "dev",
       {{"vcsum_data/short_dev.txt", segment + second_segment},
        {"vcsum_data/long_dev.txt",
         "\n{\"id\": \"7\", \"av_num\": 1, \"eos_index\": [1], \"summary\": \"总结。\"}\n"}},
       "vcsum_data/long_dev.txt"},
      {"dialogsum",
       "test",
       {{"DialogSum_Data/dialogsum.test.jsonl", second_dialogue + dialogue}},
       "DialogSum_Data/dialogsum.test.jsonl"},
      {"govreport",
       "val",
       {{"valid.jsonl",
         "{\"report\": \"R one.\", \"summary\": \"S one.\"}\n"
         "{\"id\": \"g2\", \"report\": \"R two.\", \"summary\": \"S two.\"}\n"}},
       "valid.jsonl"},
      {"govreport",
       "test",
       {{"test.source", "R one.\nR two.\nR three.\n"},
        {"test.target", "S one.\r\nS two.\r\nS three."}},
       "test.target"},
      {"cola",
       "dev",
       {{"cola_public/raw/in_domain_dev.tsv",
         "gj04\t1\t\tIt rained.\ngj04\t0\t*\tRained it did it.\n"},
        {"cola_public/raw/out_of_domain_dev.tsv", "cj99\t0\t??\tThe rain \"rained\n"}},
       "cola_public/raw/in_domain_dev.tsv"},
      {"clcv",
       "test",
       {{"test.jsonl",
         "{\"indictment\": \"诉一。\", \"judgment\": \"判一。\"}\n"
         "{\"indictment\": \"诉二。\", \"judgment\": \"判二。\"}\n"}},
       "test.jsonl"},
      {"csl",
       "test",
       {{"benchmark/ts/test.tsv", "to title\t摘要一。\t题一\nto title\t摘要二。\t题二\n"}},
       "benchmark/ts/test.tsv"},
      {"xsum",
       "val",
       {{"XSum-TRAINING-DEV-TEST-SPLIT-90-5-5.json",
         R"({"train": ["9"], "validation": ["12", "11"], "test": []})"},
        {"bbc-summary-data/11.summary",
         article + "[SN]FIRST-SENTENCE[SN]\nIt rains.\n\n[SN]RESTBODY[SN]\nMuch.\nMore.\n"},
        {"bbc-summary-data/12.summary",
         article + "[SN]FIRST-SENTENCE[SN]\nSun.\n\n[SN]RESTBODY[SN]\nHot.\n"}},
       "bbc-summary-data/11.summary"},
      {"duc-2007",
       "test",
       {{"topics.sgml",
         "<topic>\n<num> D0701A </num>\n<title> Rain </title>\n<narr>\nWhy does\nit "
         "rain?\n</narr>\n"
         "</topic>\n<topic>\n<num>d0702b</num>\n<title>Sun</title>\n<narr>When?</narr>\n</"
         "topic>\n"},
        {"docs/D0701A/APW1",
         "<DOC>\n<DOCNO> APW1 </DOCNO>\n<TEXT>Headed\n<P>\nClouds &AMP;\nwind.\n</P> "
         "between\n<P>Rain.</P>\n"
         "</TEXT>\n</DOC>\n"},
        {"docs/D0701A/XIE1", "<DOC><TEXT>\nOne line.\n\nAnother.\n</TEXT></DOC>"},
        {"docs/d0702b/APW2", "<DOC><TEXT>Sun.</TEXT></DOC>"},
        {"models/D0701.M.250.A.B", "It rains.\nOften.\n"},
        {"models/D0701.M.250.A.C", "Rain."},
        {"models/D0702.M.250.B.A", "Sun."}},
       "topics.sgml"}};
}

}  // namespace qfs::test
