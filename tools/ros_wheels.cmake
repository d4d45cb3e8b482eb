# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
#
# Lets CMake build an interface package against the ROS 2 packages of PyPI. Passed as
# CMAKE_PROJECT_INCLUDE, so that kron_dynamics_msgs/CMakeLists.txt stays as it is for a real ROS.
#
# The exported targets <package>__rosidl_generator_py of those wheels name the include directories
# of the machine that built them, below /opt/python. CMake refuses a target with an include
# directory that does not exist. Nothing is lost with them: the generator adds the headers of the
# Python and NumPy in use by itself.
#
# Deferred to the end of the project, because only then have all packages been found.

function(kron_dynamics_drop_wheel_include_directories)
  get_property(targets DIRECTORY PROPERTY IMPORTED_TARGETS)
  list(FILTER targets INCLUDE REGEX "__rosidl_generator_py$")
  foreach(target IN LISTS targets)
    get_target_property(directories ${target} INTERFACE_INCLUDE_DIRECTORIES)
    if(directories)
      list(FILTER directories EXCLUDE REGEX "^/opt/python/")
      set_target_properties(${target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${directories}")
    endif()
  endforeach()
endfunction()

cmake_language(DEFER CALL kron_dynamics_drop_wheel_include_directories)
