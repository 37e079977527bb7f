import APNSProtocol
import Testing

@testable import APNS

@Suite struct ResendPolicyTests {
    private let policy = ResendPolicy(resendsMax: 3)

    private func tries(_ resends: Int, refreshed: Bool = false) -> ResendPolicy.Tries {
        var tries = ResendPolicy.Tries()
        for index in 0..<resends { tries.resent(withNewToken: refreshed && index == 0) }
        return tries
    }

    private func action(_ reason: Reason, _ tries: ResendPolicy.Tries = ResendPolicy.Tries()) -> ResendPolicy.Action {
        policy.afterAnswer(AnswerVerdict(status: reason.status ?? 0, reason: reason), reason, tries)
    }

    @Test func resendsAfterErrorsThatAnotherConnectionOrTokenSolves() {
        for reason in Reason.known {
            switch reason {
            case .unrelatedKeyIDInToken, .idleTimeout: #expect(action(reason) == .resend)
            case .expiredProviderToken: #expect(action(reason) == .resendWithNewToken(.expired))
            case .invalidProviderToken: #expect(action(reason) == .resendWithNewToken(.invalid))
            default: #expect(action(reason) == .finish, "\(reason)")
            }
        }
    }

    @Test func limitsTheNumberOfResends() {
        #expect(action(.unrelatedKeyIDInToken, tries(2)) == .resend)
        #expect(action(.unrelatedKeyIDInToken, tries(3)) == .finish)
        #expect(policy.afterRefusal(tries(2)) == .resend)
        #expect(policy.afterRefusal(tries(3)) == .finish)
        #expect(ResendPolicy(resendsMax: 10_000).afterRefusal(tries(10_000)) == .finish)
    }

    @Test func resendsOnceWithANewToken() {
        for reason in [Reason.expiredProviderToken, .invalidProviderToken] {
            #expect(action(reason, tries(1)) != .finish)
            #expect(action(reason, tries(1, refreshed: true)) == .finish)
        }
    }
}
