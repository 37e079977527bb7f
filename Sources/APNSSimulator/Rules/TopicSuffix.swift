import APNSProtocol

/// The suffixes that follow the bundle ID in the topics of some push types.
enum TopicSuffix {
    /// The push types by length of their suffix, longest first.
    static let mostSpecificFirst = PushType.allCases.sorted {
        $0.topicSuffix.utf8CodeUnitCount > $1.topicSuffix.utf8CodeUnitCount
    }

    /// Returns whether a topic ends with the suffix of a push type.
    static func ends(_ topic: UnsafeRawBufferPointer) -> Bool {
        mostSpecificFirst.contains {
            $0.topicSuffix.utf8CodeUnitCount > 0 && $0.bundleIDByteCount(inTopic: topic) != nil
        }
    }
}
