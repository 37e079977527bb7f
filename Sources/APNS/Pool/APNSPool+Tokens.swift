import APNSProtocol
import Crypto
import EventLoop
import Telemetry

/// Provider tokens: pushes that wait for one, and refused ones.
extension APNSPool {
    /// There is a new provider token, or none for one that was refused.
    public func take(_ update: ProviderTokenUpdate) {
        loop.assertOnLoop()
        tokens?.take(update)
        guard case .newest = update else {
            endTokenless()
            return finishRefused()
        }
        let again = refused
        refused = []
        for one in again { resend(one.push, insteadOfToken: one.tokenGeneration) }
        for push in takeTokenless() { wait(push) }
        sendWaiting()
    }

    /// Right after the machine was suspended the newest token is too old, until its signer has been asked.
    func waitForToken(_ push: Push) {
        guard tokens?.askForNewer() == true else {
            logMissingToken()
            return end(push, .notSent(.noToken))
        }
        guard tokenless.count < configuration.waitingMax else { return end(push, .notSent(.overloaded)) }
        tokenless.append(push)
        guard tokenTimer == nil else { return }
        tokenTimer = loop.schedule(after: .seconds(configuration.tokenWaitSecondsMax)) { [self] in
            tokenTimer = nil
            endTokenless()
        }
    }

    func takeTokenless() -> [Push] {
        if let tokenTimer { loop.cancel(tokenTimer) }
        tokenTimer = nil
        defer { tokenless = [] }
        return tokenless
    }

    private func endTokenless() {
        let pushes = takeTokenless()
        if !pushes.isEmpty { logMissingToken() }
        for push in pushes { endUnsent(push, .noToken) }
    }

    /// Once until there is a token again: every push would say the same.
    private func logMissingToken() {
        guard !isTokenMissing, let key = configuration.credential.key else { return }
        isTokenMissing = true
        log.error(
            .tokenMissing,
            [
                .apnsKeyID: .string(key.keyID), .apnsTeamID: .string(key.teamID),
                .error: .string(tokens?.error?.message ?? "the last one is too old, and the next may not be made yet"),
            ])
    }

    /// Others that send the same token, or an older one, would be refused as well.
    func leaveConnections(withTokenUpTo generation: Int) {
        for connection in connections where connection?.sends(tokenUpTo: generation) == true { connection?.drain() }
    }

    func finishRefused() {
        let refused = refused
        self.refused = []
        for one in refused { refuse(one.push, one.answer, one.tokenGeneration) }
    }
}
