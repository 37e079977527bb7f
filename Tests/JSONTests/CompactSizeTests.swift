import JSON
import Testing

@Suite struct CompactSizeTests {
    @Test(arguments: [
        ("{}", "{}"), ("[ ]", "[]"), ("{ \"a\" : [ 1.50 , true, null ] }", #"{"a":[1.50,true,null]}"#),
        (#"{"a": "\u00e9\ud83d\ude00\/", "b":[[],{}]}"#, #"{"a":"é😀/","b":[[],{}]}"#),
        (#""\u0001\u0009\u0022\\""#, #""\u0001\t\"\\""#),
    ])
    func `Neither whitespace nor needless escapes count`(text: String, shortest: String) throws {
        #expect(try JSONDocument(text).root.compactByteCount == shortest.utf8.count)
    }
}
