import AMQP
import Crypto
import Hashing

/// The key by which two deliveries are duplicates: the id and every byte of the body, which names the app. A request
/// with a corrected body is another request.
public struct DeduplicationKey: Sendable, Hashable {
    let high: UInt64
    let low: UInt64
}

extension SecretMixer {
    /// Returns the key of a request. It has 128 bits, so that no two requests in the life of a process share a key. The
    /// secret prevents constructed collisions.
    func deduplicationKey(id: UUIDValue, body: UnsafeRawBufferPointer) -> DeduplicationKey {
        let content = hash(body)
        // Ids may differ in one half only. Both halves of the key must differ then: one selects the stripe, the other
        // the slot.
        let low = mix(id.low, mix(id.high, content))
        return DeduplicationKey(high: mix(id.high ^ low, content &+ 1), low: low)
    }

    /// Returns a hash of the properties that the publisher set, without the `x-` headers of brokers. Two publishes of
    /// the same body rarely share it, since times, traces and correlation ids differ.
    func fingerprint(of properties: MessageProperties) -> UInt32 {
        UInt32(truncatingIfNeeded: properties.publishersSum { hash($0) })
    }
}
