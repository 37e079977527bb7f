import APNSProtocol
import Crypto
import EventLoop
import Telemetry

/// The outcomes that connections report.
extension APNSPool {
    /// Completes all waiting pushes with ``NotSentReason/noConnection``.
    public func failWaiting() {
        loop.assertOnLoop()
        while let push = waiting.popAny() { end(push, .notSent(.noConnection)) }
        for push in removeTokenless() { end(push, .notSent(.noConnection)) }
        waitTimer.cancel()
    }

    /// Sends waiting pushes after a stream has closed.
    func streamFreed() {
        sendWaiting()
    }

    /// Completes a push that APNs answered with 200 and no details.
    func accepted(_ push: Push, _ outcome: PushOutcome, sentAt: MonotonicTime, by connection: APNSConnection) {
        answerReceived(push, sentAt: sentAt, isAccepted: true, by: connection)
        end(push, outcome)
    }

    private func answerReceived(_ push: Push, sentAt: MonotonicTime, isAccepted: Bool, by connection: APNSConnection) {
        metrics.answer.observe(sentAt, loop.now.monotonic)
        push.timing?.answeredAt = loop.now.unixNanoseconds
        if push.wantsFreshConnection { freshEnded(on: connection, isAccepted: isAccepted) }
    }

    func answered(
        _ push: Push, _ answer: PushAnswer, tokenGeneration: Int, sentAt: MonotonicTime, by connection: APNSConnection
    ) {
        answerReceived(push, sentAt: sentAt, isAccepted: answer.status == 200, by: connection)
        guard answer.status != 200, answer.channel == nil else { return end(push, .answered(answer)) }
        let verdict = AnswerVerdict(status: answer.status, reason: answer.reason, isFromAPNS: answer.isFromAPNS)
        if verdict.replacesConnection { connection.drain() }
        switch resends.afterAnswer(verdict, answer.reason, push.tries) {
        case .finish:
            end(push, .answered(answer))
        case .resend:
            resend(push, withNewToken: false)
        case .resendWithNewToken(let kind):
            let refusal = TokenRefusal(kind: kind, generation: tokenGeneration)
            switch tokens?.refused(refusal, loop.now, random: loop.nextRandom) {
            case .newer: resend(push, insteadOfToken: tokenGeneration)
            case .requested: refused.append(Refused(push: push, answer: answer, tokenGeneration: tokenGeneration))
            case .some(.none), nil: refuse(push, answer, tokenGeneration)
            }
        }
    }

    func resend(_ push: Push, insteadOfToken generation: Int) {
        drainConnections(sendingTokenUpTo: generation)
        resend(push, withNewToken: true)
    }

    func refuse(_ push: Push, _ answer: PushAnswer, _ tokenGeneration: Int) {
        if answer.reason == .invalidProviderToken { drainConnections(sendingTokenUpTo: tokenGeneration) }
        end(push, .answered(answer))
    }

    func refusedUnprocessed(_ push: Push, by connection: APNSConnection) {
        if push.wantsFreshConnection { freshEnded(on: connection, isAccepted: false) }
        if let refusal = connection.certificateRefusal { return end(push, .notSent(.certificateRefused(refusal))) }
        switch resends.afterRefusal(push.tries) {
        case .resend, .resendWithNewToken: resend(push, withNewToken: false)
        case .finish: end(push, .notSent(.refused))
        }
    }

    /// Completes a push that the connection could not write in time.
    func notWritten(_ push: Push, by connection: APNSConnection) {
        if push.wantsFreshConnection { freshEnded(on: connection, isAccepted: false) }
        endUnsent(push, .notWritten(silentConnection: silentNumber(of: connection)))
    }

    /// Returns the number of the connection; nil if APNs has accepted the credential on the connection.
    private func silentNumber(of connection: APNSConnection) -> Int? {
        machine[connection.slot]?.isAuthenticated == false ? connection.number : nil
    }

    func outcomeUnknown(_ push: Push, _ reason: UnknownReason, by connection: APNSConnection) {
        if push.wantsFreshConnection { freshEnded(on: connection, isAccepted: false) }
        statistics.unknown += 1
        end(push, .unknown(reason, silentConnection: silentNumber(of: connection)))
    }

    func answeredTooLate() {
        statistics.endedLate += 1
    }

    func resend(_ push: Push, withNewToken: Bool) {
        var push = push
        push.tries.resent(withNewToken: withNewToken)
        metrics.resent.add()
        wait(push)
    }
}
