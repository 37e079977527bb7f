import APNSProtocol
import EventLoop
import Testing

@testable import APNSSimulator

/// Tests of the limits of refused requests on a connection.
@Suite struct ErrorLimitTests {
    private var limit = ErrorLimit()
    private var options = RuleOptions()
    private var now = Provider.now.monotonic

    init() {
        options.errorsInARowMax = 2
        options.errorsMax = 5
        options.badDeviceTokensMax = 3
    }

    private mutating func answered(_ reason: Reason?) -> ErrorLimit.Consequence {
        guard let reason else { return limit.succeeded() }
        return limit.refused(.refused(reason), at: now, options)
    }

    @Test mutating func consecutiveRefusalsLowerTheStreamLimit() {
        #expect(answered(.badTopic) == .none)
        #expect(answered(.badTopic) == .none)
        #expect(answered(.badTopic) == .fewerStreams)
        #expect(answered(.badTopic) == .none)
        #expect(answered(nil) == .allStreams)
        #expect(answered(nil) == .none)
        #expect(answered(.badTopic) == .none)
    }

    @Test mutating func tooManyRefusalsInAMinuteCloseTheConnection() {
        options.errorsInARowMax = nil
        for _ in 0..<5 { #expect(answered(.badTopic) == .none) }
        #expect(answered(.tooManyRequests) == .end(.tooManyRequests))
        #expect(answered(.tooManyRequests) == .none)
    }

    @Test mutating func settingTheClockBackRestartsTheWindow() {
        options.errorsInARowMax = nil
        for _ in 0..<5 { #expect(answered(.badTopic) == .none) }
        now = now + .seconds(-1000)
        for _ in 0..<5 { #expect(answered(.badTopic) == .none) }
    }

    @Test mutating func badDeviceTokensCloseTheConnectionEarlier() {
        options.errorsInARowMax = nil
        for _ in 0..<3 { #expect(answered(.badDeviceToken) == .none) }
        #expect(answered(.badDeviceToken) == .end(.badDeviceToken))
    }

    @Test mutating func theNextMinuteCountsFromZero() {
        options.errorsInARowMax = nil
        for _ in 0..<4 {
            for _ in 0..<3 { #expect(answered(.badDeviceToken) == .none) }
            now = now + .seconds(60)
        }
    }

    @Test mutating func inactiveDevicesAndServerErrorsDoNotCount() {
        for _ in 0..<20 {
            for reason in [Reason.unregistered, .expiredToken, .internalServerError, .serviceUnavailable] {
                #expect(answered(reason) == .none)
            }
        }
    }
}

/// Tests of clients that rapidly open and close connections.
@Suite struct ConnectionRateLimitTests {
    private var limit = ConnectionRateLimit()
    private var options = RuleOptions()
    private var now = Provider.now.monotonic
    private let address: [UInt8] = [127, 0, 0, 1]

    init() { options.shortConnectionsMax = 10 }

    private mutating func close(seconds: Int = 0, requests: Int = 0) {
        limit.closed(address, after: .seconds(seconds), requests: requests, at: now, options)
    }

    @Test mutating func lateClosingsDoNotShortenTheRefusal() {
        for _ in 0..<10 { close() }
        now = now + .seconds(11)
        close()
        #expect(limit.admits(address, at: now) == false)
        now = now + .seconds(-1000)
        #expect(limit.admits(address, at: now) == true, "the address is refused after the clock was set back")
    }

    @Test mutating func tenShortConnectionsInAFewSecondsAreTooMany() {
        for _ in 0..<10 {
            #expect(limit.admits(address, at: now) == true)
            close()
            now = now + .milliseconds(200)
        }
        #expect(limit.admits(address, at: now) == false)
        #expect(limit.admits([127, 0, 0, 2], at: now) == true)
        now = now + .seconds(29)
        #expect(limit.admits(address, at: now) == false)
        now = now + .seconds(1)
        #expect(limit.admits(address, at: now) == true)
        close()
        #expect(limit.admits(address, at: now) == true)
    }

    @Test mutating func slowConnectionsAreNotLimited() {
        for _ in 0..<100 {
            close()
            now = now + .seconds(2)
        }
        #expect(limit.admits(address, at: now) == true)
    }

    @Test mutating func usedConnectionsDoNotCount() {
        for _ in 0..<100 {
            close(requests: 10)
            close(seconds: 10)
        }
        #expect(limit.admits(address, at: now) == true)
        options.shortConnectionsMax = nil
        for _ in 0..<100 { close() }
        #expect(limit.admits(address, at: now) == true)
    }

    @Test mutating func oldAddressesAreRemovedToMakeRoom() {
        for number in 0..<30_000 {
            let address = [UInt8(number >> 8 & 255), UInt8(number & 255), UInt8(number >> 16)]
            limit.closed(address, after: .zero, requests: 0, at: now, options)
            if number % 5000 == 0 { now = now + .seconds(20) }
        }
        for _ in 0..<10 { close() }
        #expect(limit.admits(address, at: now) == false, "the newest address was not remembered")
    }
}
