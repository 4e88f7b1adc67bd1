constexpr = object
