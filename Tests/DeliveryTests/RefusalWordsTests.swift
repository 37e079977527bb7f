import APNS
import APNSProtocol
import Testing

@testable import Delivery

/// The explanations of refusals by APNs.
@Suite struct RefusalWordsTests {
    @Test(arguments: Reason.known) func everyRefusalHasASentenceAndARemedy(_ reason: Reason) throws {
        let explained = PushAnswer(status: reason.status ?? 400, reason: reason).explained
        let start = "APNs answered \(reason.status ?? 400) \(reason.text). "
        #expect(explained.hasPrefix(start))
        let sentence = explained.dropFirst(start.count)
        let parts = sentence.split(separator: ": ", maxSplits: 1)
        #expect(parts.count == 2 && sentence.hasSuffix("."), "\(sentence)")
        #expect(sentence.utf8.count <= 150, "\(sentence)")
    }

    @Test func theRemedyMatchesTheReason() {
        let words = PushAnswer(status: 400, reason: .deviceTokenNotForTopic).explained
        #expect(
            words
                == "APNs answered 400 DeviceTokenNotForTopic. The device token belongs to another app: send the request with "
                + "the bundle ID of that app, or remove the token.")
        #expect(PushAnswer(status: 400, reason: .unknown("New")).explained == "APNs answered 400 New.")
        #expect(PushAnswer(status: 500).explained == "The answer has status 500 and no reason.")
    }
}
