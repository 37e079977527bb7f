import APNSProtocol
import Testing

@testable import APNS

@Suite struct AnswerParserTests {
    private func read(_ text: String) -> AnswerParser.Contents {
        Array(text.utf8).withUnsafeBytes { AnswerParser().read($0) }
    }

    private func answer(_ reason: Reason, _ milliseconds: Int64? = nil) -> AnswerParser.Contents {
        AnswerParser.Contents(reason: reason, timestampMilliseconds: milliseconds, isOfAPNS: true)
    }

    private func foreign(_ text: String) -> AnswerParser.Contents { AnswerParser.Contents(reason: .unknown(text)) }

    @Test(arguments: Reason.known) func everyReasonIsKnown(reason: Reason) {
        #expect(read(#"{"reason":"\#(reason.text)"}"#) == answer(reason))
    }

    /// Apple's tables, repeated as literals, because the test above would not detect a typo in the shared table.
    @Test(arguments: [
        ("BadDeviceToken", Reason.badDeviceToken), ("Unregistered", .unregistered), ("ExpiredToken", .expiredToken),
        ("PayloadTooLarge", .payloadTooLarge), ("ExpiredProviderToken", .expiredProviderToken),
        ("InvalidProviderToken", .invalidProviderToken), ("MissingProviderToken", .missingProviderToken),
        ("BadEnvironmentKeyIdInToken", .badEnvironmentKeyIDInToken),
        ("BadEnvironmentKeyInToken", .badEnvironmentKeyIDInToken), ("UnrelatedKeyIdInToken", .unrelatedKeyIDInToken),
        ("TooManyProviderTokenUpdates", .tooManyProviderTokenUpdates), ("TooManyRequests", .tooManyRequests),
        ("InternalServerError", .internalServerError), ("ServiceUnavailable", .serviceUnavailable),
        ("Service Unavailable", .serviceUnavailable), ("Shutdown", .shutdown), ("IdleTimeout", .idleTimeout),
        ("DeviceTokenNotForTopic", .deviceTokenNotForTopic), ("TopicDisallowed", .topicDisallowed),
        ("BadCertificateEnvironment", .badCertificateEnvironment), ("FooBar", .unknown("FooBar")),
    ])
    func parsesDocumentedSpellings(word: String, reason: Reason) {
        #expect(read(#"{"reason":"\#(word)"}"#) == answer(reason))
    }

    @Test(
        arguments: [
            (#"1454948015990"#, 1_454_948_015_990), (#"1454948015990.75"#, 1_454_948_015_990),
            (#"1.454948015990e12"#, 1_454_948_015_990),
            (#""1454948015990""#, 1_454_948_015_990), (#""soon""#, nil), (#"1e400"#, nil), (#"null"#, nil),
            (#"[1]"#, nil),
            (#"0"#, 0), (#""""#, nil), (#""99999999999999999999""#, nil),
        ] as [(String, Int64?)])
    func parsesTimestampsOfAllForms(written: String, milliseconds: Int64?) {
        let contents = read(#"{"reason":"Unregistered","timestamp":\#(written)}"#)
        #expect(contents == answer(.unregistered, milliseconds))
    }

    @Test func bodyWithoutReasonBecomesTruncatedUnknownReason() {
        #expect(read("") == AnswerParser.Contents())
        for text in ["{}", #"{"reason":7}"#, #"{"error":"x"}"#, "[]", #""BadPath""#] {
            #expect(read(text) == foreign(text))
        }
        #expect(read("<html>\n") == foreign("<html>?"))
        #expect(
            read("Maximum active streams violated for this endpoint.").reason
                == .unknown(
                    "Maximum active streams violated for this endpoint."))
        guard case .unknown(let text) = read(String(repeating: "x", count: 100_000)).reason else {
            Issue.record("the text was parsed as a known reason")
            return
        }
        #expect(text.count == Reason.textBytesMax)
    }
}
